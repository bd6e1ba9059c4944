package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/tool"
)

// everything is the program of the official server that has everything; see
// check_mcp of build/test.
func everything(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("HEARTH_MCP_PACKAGES")
	if dir == "" {
		t.Skip("the official MCP packages of npm are not there; `build/test --only mcp` fetches them and runs this")
	}
	return filepath.Join(dir, "@modelcontextprotocol/server-everything/dist/index.js")
}

// real is a program of the system as a server's.
type real struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.ReadCloser
	done chan struct{}
	once sync.Once
}

func startReal(t *testing.T, s Server) (Process, error) {
	cmd := exec.CommandContext(t.Context(), s.Command, s.Args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), s.Env...), t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd.Stdout = theirs
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &real{cmd: cmd, in: in, out: out, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait()
	}()
	return p, nil
}

func (p *real) Write(b []byte) error  { _, err := p.in.Write(b); return err }
func (p *real) CloseInput() error     { return p.in.Close() }
func (p *real) Output() io.ReadCloser { return p.out }
func (p *real) Done() <-chan struct{} { return p.done }
func (p *real) Words() string         { return "" }
func (p *real) Stop()                 { p.once.Do(func() { _ = p.cmd.Process.Kill() }) }

// serveOverHTTP starts the server as a service and returns its address.
func serveOverHTTP(t *testing.T, program string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	cmd := exec.CommandContext(t.Context(), "node", program, "streamableHttp")
	cmd.Env = append(os.Environ(), "PORT="+port)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(errs)
	for said.Scan() && !strings.Contains(said.Text(), "listening") {
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, errs)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-drained
		_ = cmd.Wait()
	})
	return "http://127.0.0.1:" + port + "/mcp"
}

// The official server that has everything, and our client: tools, resources,
// prompts, progress and cancellation, as a program and as a service.
func TestOfficialServer(t *testing.T) {
	program := everything(t)
	t.Run("program", func(t *testing.T) {
		roundTrip(t, Server{ID: "every", Command: "node", Args: []string{program, "stdio"}})
	})
	t.Run("service", func(t *testing.T) { roundTrip(t, Server{ID: "every", URL: serveOverHTTP(t, program)}) })
}

func officialHub(t *testing.T, set Server) *world {
	w := &world{t: t, pins: &memoryPins{m: map[string][32]byte{}}}
	w.hub = New(Options{
		Version: "test", Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: time.Now, Pins: w.pins,
		Launch: func(_ context.Context, s Server) (Process, error) { return startReal(t, s) },
		Permit: func(context.Context, tool.Call, Wish) error { return nil },
	})
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		w.hub.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ran
	})
	w.hub.Configure([]Server{set})
	var st Status
	err := error(ErrUnknown)
	for errors.Is(err, ErrUnknown) {
		pause10(t)
		st, err = w.hub.Settled(t.Context(), set.ID)
	}
	// those cannot be called here
	onlyTasks := slices.IndexFunc(st.Skipped, func(why string) bool { return !strings.Contains(why, "task") }) < 0
	if err != nil || st.State != Ready || len(st.Tools) < 10 || !onlyTasks {
		t.Fatalf("%+v %v", st, err)
	}
	return w
}

func roundTrip(t *testing.T, set Server) {
	w := officialHub(t, set)
	officialTools(t, w)
	officialReading(t, w)
	officialProgress(t, w)
	officialCancel(t, w)
}

func officialTools(t *testing.T, w *world) {
	for _, c := range []struct{ tool, args, want string }{
		{"echo", `{"message":"ça va? 你好"}`, "ça va? 你好"},
		{"get-sum", `{"a":2,"b":40}`, "42"},
		{"get-structured-content", `{"location":"Chicago"}`, "humidity"},
		{"get-resource-reference", `{"resourceType":"Text","resourceId":1}`, "demo://resource"},
		{"get-resource-links", `{"count":2}`, "demo://resource"},
	} {
		res, err := w.call(w.tool("mcp__every__"+c.tool), c.args)
		if err != nil || !strings.Contains(res.Text, c.want) || !strings.Contains(res.Text, "UNTRUSTED") {
			t.Errorf("%s: %q %v", c.tool, res.Text, err)
		}
	}
	if res, err := w.call(w.tool("mcp__every__get-tiny-image"), `{}`); err != nil || len(res.Images) != 1 ||
		res.Images[0].MIME != "image/png" {
		t.Errorf("%d pictures, %q %v", len(res.Images), res.Text, err)
	}
	if res, err := w.call(w.tool("mcp__every__get-sum"), `{"a":"two"}`); err == nil {
		t.Errorf("wrong arguments: %q", res.Text)
	}
}

func officialReading(t *testing.T, w *world) {
	ctx := t.Context()
	list, err := w.hub.Resources(ctx, "every")
	if err != nil || len(list.List) == 0 {
		t.Fatalf("%v %v", list, err)
	}
	for _, uri := range []string{list.List[0].URI, "demo://resource/dynamic/text/7"} {
		if text, err := w.hub.ReadResource(ctx, "every", uri); err != nil || len(text) < 40 {
			t.Errorf("%s: %q %v", uri, text, err)
		}
	}
	if text, err := w.hub.ReadResource(ctx, "every", "demo://resource/none"); err == nil {
		t.Errorf("what is not there: %q", text)
	}
	if res, err := w.call(w.tool(ResourceTool), `{"server":"every","uri":"demo://resource/dynamic/text/8"}`); err != nil ||
		!strings.Contains(res.Text, "Resource 8") {
		t.Errorf("by the tool: %q %v", res.Text, err)
	}
	prompts, err := w.hub.Prompts(ctx, "every")
	if err != nil || !slices.ContainsFunc(prompts, func(p Prompt) bool {
		return p.Name == "args-prompt" && slices.ContainsFunc(p.Arguments, func(a Argument) bool { return a.Name == "city" && a.Required })
	}) {
		t.Errorf("%+v %v", prompts, err)
	}
	if text, err := w.hub.Prompt(ctx, "every", "args-prompt", map[string]string{"city": "Oslo"}); err != nil ||
		!strings.Contains(text, "What's weather in Oslo?") {
		t.Errorf("%q %v", text, err)
	}
	if _, err := w.hub.Prompt(ctx, "every", "args-prompt", nil); err == nil {
		t.Error("a prompt without what it needs was filled in")
	}
}

func officialProgress(t *testing.T, w *world) {
	var mu sync.Mutex
	var got []string
	res, err := w.tool("mcp__every__trigger-long-running-operation").Run(t.Context(), tool.Call{
		Args: json.RawMessage(`{"duration":0.6,"steps":3}`), Progress: func(s string) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, s)
		},
	})
	mu.Lock()
	defer mu.Unlock()
	if err != nil || !strings.Contains(res.Text, "completed") || !slices.Contains(got, "1 of 3") || !slices.Contains(got, "2 of 3") {
		t.Errorf("%q %q %v", got, res.Text, err)
	}
}

// officialCancel: a call that is stopped ends, and the connection is as good as
// before.
func officialCancel(t *testing.T, w *world) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := w.tool("mcp__every__trigger-long-running-operation").Run(ctx, tool.Call{
		Args: json.RawMessage(`{"duration":40,"steps":400}`), Progress: func(string) { cancel() },
	})
	cancel()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a stopped call: %v", err)
	}
	if res, err := w.call(w.tool("mcp__every__echo"), `{"message":"still here"}`); err != nil || !strings.Contains(res.Text, "still here") {
		t.Errorf("after it: %q %v", res.Text, err)
	}
	if st := w.hub.Status()[0]; st.State != Ready || st.Restarts != 0 {
		t.Errorf("%+v", st)
	}
}
