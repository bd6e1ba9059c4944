package update_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/release"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// built are the real programs of three versions, one whose faults can be chosen, and
// the tool that signs releases; made once.
var built struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// program is one of them.
func program(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("it links Hearth three times, and updates are for Linux and macOS")
	}
	if dir := os.Getenv("HEARTH_UPDATE_PROGRAMS"); dir != "" { // of an earlier run, made as below
		return filepath.Join(dir, name)
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "hearth-versions-of-tests"); built.err != nil {
			return
		}
		const module = "github.com/hearth-assistant/hearth/"
		hearth := func(version, more string) []string {
			return []string{"-tags", "failpoint", "-ldflags", "-s -w -X main.version=" + version + more, module + "app/hearth"}
		}
		for name, args := range map[string][]string{
			"0.2.0": hearth("0.2.0", ""), "0.3.0": hearth("0.3.0", ""),
			"0.4.0":   hearth("0.4.0", " -X "+module+"gateway/store.nextSchema=yes"),
			"faulty":  {module + "gateway/release/testdata/version"},
			"release": {module + "build/release"},
		} {
			cmd := exec.Command("go", append([]string{"build", "-o", filepath.Join(built.dir, name)}, args...)...)
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				built.err = fmt.Errorf("build %s: %w\n%s", name, err, out)
				return
			}
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, name)
}

// house is an installation of 0.2.0 with its data and its source of releases.
type house struct {
	t                *testing.T
	root, site, keys string
	dir              statedir.Dir
	port             string
	env              []string
	meanwhile        func() // is called again and again while something is awaited
	gateway          *exec.Cmd
	log              *os.File
}

func newHouse(t *testing.T) *house {
	h := &house{t: t, root: t.TempDir(), site: t.TempDir(), keys: t.TempDir(), dir: statedir.Dir(filepath.Join(t.TempDir(), "state")),
		meanwhile: func() {}}
	h.copy(program(t, "0.2.0"), filepath.Join(h.root, "hearth"))
	h.write(filepath.Join(h.root, "hearth-channels"), "#!/bin/sh\necho 0.2.0\n")
	root, key := h.tool("key", filepath.Join(h.keys, "root")), h.tool("key", filepath.Join(h.keys, "release"))
	h.tool("trust", "-root", filepath.Join(h.keys, "root"), "-release", key, h.site)
	srv := httptest.NewServer(http.FileServer(http.Dir(h.site)))
	t.Cleanup(srv.Close)
	if err := h.dir.Ensure(); err != nil {
		t.Fatal(err)
	}
	h.write(filepath.Join(string(h.dir), "hearth.json"), fmt.Sprintf(`{ update: { source: %q, key: %q } }`, srv.URL, root))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, h.port, _ = net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	if h.log, err = os.Create(filepath.Join(t.TempDir(), "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.stop()
		if out, _ := os.ReadFile(h.log.Name()); t.Failed() {
			t.Logf("the gateway said:\n%s", out)
		}
	})
	return h
}

func (h *house) copy(from, to string) {
	h.t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o755)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) write(path, text string) {
	h.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) tool(args ...string) string {
	h.t.Helper()
	out, err := exec.Command(program(h.t, "release"), args...).CombinedOutput()
	if err != nil {
		h.t.Fatalf("release %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// publish makes the archive of a version as build/package does, and signs it.
func (h *house) publish(version, hearth, channels string) {
	h.t.Helper()
	packages := h.t.TempDir()
	name := "hearth-gateway_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	w := tar.NewWriter(z)
	b, err := os.ReadFile(hearth)
	if err != nil {
		h.t.Fatal(err)
	}
	for file, data := range map[string][]byte{"hearth": b, "hearth-channels": []byte(channels)} {
		err := w.WriteHeader(&tar.Header{Name: name + "/" + file, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(data))})
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			h.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		h.t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(packages, name+".tar.gz"), out.Bytes(), 0o644); err != nil {
		h.t.Fatal(err)
	}
	st, _ := release.Read(h.dir)
	h.tool("manifest", "-key", filepath.Join(h.keys, "release"), "-packages", packages, "-sequence", fmt.Sprint(st.Seen["stable"]+1), h.site)
}

func (h *house) publishReal(version string) {
	h.t.Helper()
	h.publish(version, program(h.t, version), "#!/bin/sh\necho "+version+"\n")
}

// publishFaulty publishes a version that is not well once it runs for good.
func (h *house) publishFaulty(version, fault string) {
	h.t.Helper()
	h.publish(version, program(h.t, "faulty"), version+" run:"+fault)
}

// hearth is a run of the installed program.
func (h *house) hearth(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(h.t.Context(), filepath.Join(h.root, "hearth"), args...)
	cmd.Env = append([]string{
		"HEARTH_HOME=" + string(h.dir), "HOME=" + filepath.Dir(string(h.dir)), "PATH=/nowhere",
		"HEARTH_FAILPOINT_TIMES=update:health=8s,update:watch=3s",
	}, h.env...)
	return cmd
}

// says runs it to its end.
func (h *house) says(args ...string) (string, error) {
	out, err := h.hearth(args...).CombinedOutput()
	return string(out), err
}

// start starts a gateway, as a service would.
func (h *house) start() {
	h.t.Helper()
	h.gateway = h.hearth("gateway", "--quiet", "--port", h.port)
	h.gateway.Stdout, h.gateway.Stderr = h.log, h.log
	if err := h.gateway.Start(); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) stop() {
	if h.gateway == nil {
		return
	}
	_ = h.gateway.Process.Signal(os.Interrupt)
	_ = h.gateway.Wait()
	h.gateway = nil
}

// dial connects as soon as a gateway answers; nil when ctx ends first.
func (h *house) dial(ctx context.Context) *client.Client {
	for ctx.Err() == nil {
		token, err := os.ReadFile(h.dir.Token())
		if err == nil {
			c, err := client.Dial(ctx, client.Options{
				URL: "http://127.0.0.1:" + h.port, Token: strings.TrimSpace(string(token)),
				Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "test", Platform: "linux"},
				Scopes: []protocol.Scope{protocol.ScopeAdmin, protocol.ScopeRead, protocol.ScopeWrite},
			})
			if err == nil {
				return c
			}
		}
		select {
		case <-time.After(3 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return nil
}

// runs waits until a version answers.
func (h *house) runs(version string) {
	h.t.Helper()
	ctx, stop := context.WithTimeout(h.t.Context(), time.Minute)
	defer stop()
	for {
		h.meanwhile()
		r, err := h.dir.ReadRuntime()
		if err == nil && r.Version == version { // or did, before it was killed
			soon, stop := context.WithTimeout(ctx, 2*time.Second)
			c := h.dial(soon)
			stop()
			if c != nil {
				_ = c.Close()
				return
			}
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			st, _ := release.Read(h.dir)
			h.t.Fatalf("%s does not run: %+v %v; %+v", version, r, err, st)
		}
	}
}

// until waits for the state to say something.
func (h *house) until(what string, is func(release.State) bool) release.State {
	h.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		h.meanwhile()
		if st, err := release.Read(h.dir); err == nil && is(st) {
			return st
		}
	}
	st, _ := release.Read(h.dir)
	h.t.Fatalf("not %s: %+v %+v", what, st.Trial, st.Last)
	return st
}

// talker sends one message after the other, each until it is acknowledged.
type talker struct {
	h     *house
	stop  context.CancelFunc
	done  chan struct{}
	acked int
	worst time.Duration // the longest between two acknowledgements
}

func (h *house) talk() *talker {
	ctx, stop := context.WithCancel(h.t.Context())
	k := &talker{h: h, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(k.done)
		var c *client.Client
		for last := time.Now(); ctx.Err() == nil; {
			if c == nil {
				if c = h.dial(ctx); c == nil {
					return
				}
			}
			err := c.Call(ctx, protocol.MethodChatSend, protocol.ChatSendParams{
				SessionKey: "agent:main:main", Message: fmt.Sprintf("message %d.", k.acked), IdempotencyKey: fmt.Sprintf("m%d", k.acked),
			}, nil)
			if err != nil {
				_ = c.Close()
				c = nil
				continue
			}
			k.acked++
			k.worst, last = max(k.worst, time.Since(last)), time.Now()
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
			}
		}
		if c != nil {
			_ = c.Close()
		}
	}()
	return k
}

// end stops talking and looks for every message that was acknowledged.
func (k *talker) end() {
	k.h.t.Helper()
	k.stop()
	<-k.done
	k.h.has(k.acked)
}

// has looks that the first n messages are there, each once.
func (h *house) has(n int) {
	h.t.Helper()
	out, err := h.says("sessions", "export", "agent:main:main")
	if err != nil {
		h.t.Fatalf("%v %s", err, out)
	}
	for i := range n {
		if got := strings.Count(out, fmt.Sprintf(`"message %d."`, i)); got != 1 {
			h.t.Errorf("message %d is there %d times", i, got)
		}
	}
}
