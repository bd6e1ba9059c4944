package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/internal/freeport"
)

// bench is one run of the tool: what it measures and where.
type bench struct {
	hearth, page, cache string
	work                string // removed at the end
	modelURL            string
	model               *http.Server
	asked               *models
	homes               int
	fastest             atomic.Int64 // nanoseconds that spin ever took
}

func (b *bench) open(ctx context.Context) (err error) {
	if _, err := os.Stat(b.hearth); err != nil {
		return fmt.Errorf("%w; build it with build/run --build-only", err)
	}
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return err
	}
	// Beside the cache: a temporary folder may be in memory, where a flush costs nothing.
	if b.work, err = os.MkdirTemp(b.cache, "run-"); err != nil {
		return err
	}
	if b.work, err = filepath.Abs(b.work); err != nil {
		return err
	}
	if b.hearth, err = filepath.Abs(b.hearth); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	b.modelURL = "http://" + l.Addr().String()
	b.asked = newModel()
	b.model = &http.Server{Handler: b.asked, ReadHeaderTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() { _ = b.model.Serve(l) }()
	return nil
}

func (b *bench) close() {
	_ = b.model.Close()
	_ = os.RemoveAll(b.work)
}

// home makes a fresh state folder whose config knows our model server.
func (b *bench) home() (statedir.Dir, error) { return b.homeIn(b.work) }

func (b *bench) homeIn(parent string) (statedir.Dir, error) { return b.homeFor(parent, 0) }

// homeFor is homeIn with models that take so many tokens; 0: they do not tell.
func (b *bench) homeFor(parent string, window int) (statedir.Dir, error) {
	b.homes++
	workspace := filepath.Join(parent, "work"+strconv.Itoa(b.homes)) // not in the state folder, which no prompt is made of
	dir := statedir.Dir(filepath.Join(parent, "home"+strconv.Itoa(b.homes)))
	if err := dir.Ensure(); err != nil {
		return "", err
	}
	var models []map[string]any
	for _, id := range modelIDs() {
		m := map[string]any{"id": id}
		if window > 0 {
			m["contextWindow"] = window
		}
		models = append(models, m)
	}
	cfg, err := json.Marshal(map[string]any{
		"agents": map[string]any{"defaults": map[string]any{
			"model": map[string]any{"primary": "bench/" + modelTurn}, "workspace": workspace}},
		"models": map[string]any{"providers": map[string]any{
			"bench": map[string]any{"baseUrl": b.modelURL + "/v1", "api": "openai-completions", "models": models}}},
		"features": map[string]any{"titles": false}, // a turn is measured, and not what is asked beside it
	})
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(string(dir), "hearth.json"), cfg, 0o600)
}

// gateway is a running gateway process.
type gateway struct {
	dir    statedir.Dir
	cmd    *exec.Cmd
	out    bytes.Buffer
	url    string
	start  time.Duration // from starting the process to the first answer
	exited chan struct{}
}

// startGateway starts the program on a state folder and waits until its port answers.
func (b *bench) startGateway(ctx context.Context, dir statedir.Dir) (*gateway, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	g := &gateway{dir: dir, url: "http://127.0.0.1:" + port, exited: make(chan struct{})}
	g.cmd = exec.CommandContext(ctx, b.hearth, "gateway", "--port", port)
	g.cmd.Env = append(clean(os.Environ()), "HEARTH_HOME="+string(dir), "HOME="+string(dir))
	g.cmd.Stdout, g.cmd.Stderr = &g.out, &g.out
	began := time.Now()
	if err := g.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = g.cmd.Wait()
		close(g.exited)
	}()
	if err := g.answers(ctx, "127.0.0.1:"+port); err != nil {
		g.stop()
		return nil, err
	}
	g.start = time.Since(began)
	// The runtime file, by which clients find it, follows the port.
	for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(2 * time.Millisecond) {
		if r, err := dir.ReadRuntime(); err == nil && r.PID == g.cmd.Process.Pid {
			return g, nil
		}
	}
	g.stop()
	return nil, errors.New("the gateway wrote no runtime file")
}

// clean keeps what would change the measurement out: keys that make the gateway
// look for other models, and settings of the person.
func clean(env []string) []string {
	var out []string
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, "HEARTH_") && !strings.HasSuffix(name, "_API_KEY") {
			out = append(out, e)
		}
	}
	return out
}

// answers waits until an HTTP request on addr is answered.
func (g *gateway) answers(ctx context.Context, addr string) error {
	request := []byte("GET /healthz HTTP/1.1\r\nHost: " + addr + "\r\nConnection: close\r\n\r\n")
	buf := make([]byte, 12)
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(200 * time.Microsecond) {
		select {
		case <-g.exited:
			return fmt.Errorf("the gateway stopped at once: %s", strings.TrimSpace(g.out.String()))
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			continue
		}
		_, err = c.Write(request)
		if err == nil {
			_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
			_, err = c.Read(buf)
		}
		_ = c.Close()
		if err == nil {
			return nil
		}
	}
	return errors.New("the gateway's port did not answer within 20 s")
}

func (g *gateway) stop() {
	_ = g.cmd.Process.Signal(os.Interrupt)
	select {
	case <-g.exited:
	case <-time.After(15 * time.Second):
		_ = g.cmd.Process.Kill()
		<-g.exited
	}
}

// connect opens a client of the gateway.
func (g *gateway) connect(ctx context.Context, onEvent func(protocol.Event)) (*client.Client, error) {
	return client.Open(ctx, g.dir, client.Options{
		Client:  protocol.ClientInfo{ID: "gateway-client", Mode: "backend", Version: "bench", Platform: "linux", DisplayName: "bench"},
		Scopes:  []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeAdmin},
		Caps:    []string{protocol.CapSlimDeltas},
		OnEvent: onEvent,
	})
}

func freePort() (string, error) {
	port, err := freeport.Find()
	return strconv.Itoa(port), err
}

// memory is the process's memory in MB: what it has for itself (RssAnon), which
// is what it costs, and with that the pages of files that it shares with the
// kernel's cache (VmRSS).
func (g *gateway) memory() (private, resident float64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", g.cmd.Process.Pid))
	if err != nil {
		return 0, 0, fmt.Errorf("memory is measured on Linux only: %w", err)
	}
	if private, err = inStatus(b, "RssAnon:"); err != nil {
		return 0, 0, err
	}
	resident, err = inStatus(b, "VmRSS:")
	return private, resident, err
}

// inStatus is an amount of memory in a process's status, in MB.
func inStatus(status []byte, name string) (float64, error) {
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == name {
			kb, err := strconv.ParseFloat(f[1], 64)
			return kb * 1024 / 1e6, err
		}
	}
	return 0, fmt.Errorf("no %s in /proc", strings.TrimSuffix(name, ":"))
}

// cpu is the processor time that the process has used.
func (g *gateway) cpu() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", g.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("processor time is measured on Linux only: %w", err)
	}
	// The name in brackets may hold spaces; user and system time are the 12th and 13th after it.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 13 {
		return 0, errors.New("/proc/PID/stat is not understood")
	}
	user, err1 := strconv.ParseInt(f[11], 10, 64)
	system, err2 := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, errors.Join(err1, err2)
}
