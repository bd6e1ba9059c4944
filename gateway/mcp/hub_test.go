package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/hearth-assistant/hearth/gateway/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program is a server's program in this process: serve gets its input and
// output and returns when it "ends".
type program struct {
	inR, outR *io.PipeReader
	inW, outW *io.PipeWriter
	done      chan struct{}
	once      sync.Once
	words     string
}

func start(serve func(in io.Reader, out io.Writer)) *program {
	p := &program{done: make(chan struct{})}
	p.inR, p.inW = io.Pipe()
	p.outR, p.outW = io.Pipe()
	go func() {
		serve(p.inR, p.outW)
		p.Stop()
	}()
	return p
}

func (p *program) Write(b []byte) error  { _, err := p.inW.Write(b); return err }
func (p *program) CloseInput() error     { return p.inW.Close() }
func (p *program) Output() io.ReadCloser { return p.outR }
func (p *program) Done() <-chan struct{} { return p.done }
func (p *program) Words() string         { return p.words }

func (p *program) Stop() {
	p.once.Do(func() {
		_ = p.inR.Close()
		_ = p.outW.Close()
		close(p.done)
	})
}

// memoryPins are pins without a store.
type memoryPins struct {
	mu sync.Mutex
	m  map[string][32]byte
}

func (p *memoryPins) Pin(server, name string) ([32]byte, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, ok := p.m[server+"\x00"+name]
	return h, ok
}

func (p *memoryPins) SetPin(_ context.Context, server, name string, hash [32]byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.m[server+"\x00"+name] = hash
	return nil
}

// world is a hub with servers of this process.
type world struct {
	t      *testing.T
	hub    *Hub
	serve  map[string]func(in io.Reader, out io.Writer)
	starts map[string]int
	mu     sync.Mutex
	wishes []Wish
	permit error
	pins   *memoryPins
}

func newWorld(t *testing.T, serve map[string]func(in io.Reader, out io.Writer)) *world {
	w := &world{t: t, serve: serve, starts: map[string]int{}, pins: &memoryPins{m: map[string][32]byte{}}}
	w.hub = New(Options{
		Version: "test", Log: slog.New(slog.DiscardHandler), Now: time.Now, Pins: w.pins,
		Launch: func(_ context.Context, s Server) (Process, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.starts[s.ID]++
			f := w.serve[s.ID]
			if f == nil {
				return nil, errors.New("there is no program " + s.Command)
			}
			return start(f), nil
		},
		Permit: func(_ context.Context, _ tool.Call, wish Wish) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.wishes = append(w.wishes, wish)
			return w.permit
		},
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
	return w
}

// sdk serves with the official server.
func sdk(t *testing.T, s *mcp.Server) func(in io.Reader, out io.Writer) {
	return func(in io.Reader, out io.Writer) {
		_ = s.Run(t.Context(), &mcp.IOTransport{Reader: io.NopCloser(in), Writer: nopCloser{out}})
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// pass lets time pass, on the clock of synctest.
func pass(t *testing.T, d time.Duration) {
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
	synctest.Wait()
}

func echoServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "echo\u202e server", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "echo", Description: "Says it again",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)},
		func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var a struct{ Text string }
			_ = json.Unmarshal(req.Params.Arguments, &a)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.Text}}}, nil
		})
	return s
}

func (w *world) settle(servers ...Server) []Status {
	w.t.Helper()
	w.hub.Configure(servers)
	var out []Status
	for _, s := range servers {
		var st Status
		var err error = ErrUnknown
		for errors.Is(err, ErrUnknown) {
			synctest.Wait()
			st, err = w.hub.Settled(w.t.Context(), s.ID)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, st)
	}
	return out
}

func (w *world) tool(name string) tool.Tool {
	w.t.Helper()
	for _, t := range w.hub.Tools() {
		if t.Spec().Name == name {
			return t
		}
	}
	w.t.Fatalf("there is no tool %s", name)
	return nil
}

func (w *world) call(t tool.Tool, args string) (tool.Result, error) {
	return t.Run(w.t.Context(), tool.Call{ID: "c", Args: json.RawMessage(args), Progress: func(string) {}})
}

func TestCallsATool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]func(io.Reader, io.Writer){"echo": sdk(t, echoServer())})
		st := w.settle(Server{ID: "echo", Command: "echo"})[0]
		if st.State != Ready || st.Name != "echo server" || len(st.Tools) != 1 || st.Tools[0].Name != "mcp__echo__echo" {
			t.Fatalf("%+v", st)
		}
		res, err := w.call(w.tool("mcp__echo__echo"), `{"text":"hi there"}`)
		if err != nil || !strings.Contains(res.Text, "\nhi there\n") || !strings.Contains(res.Text, "UNTRUSTED") {
			t.Fatalf("%q %v", res.Text, err)
		}
		if len(w.wishes) != 1 || w.wishes[0].Tool != "echo" || w.wishes[0].Changed || string(w.wishes[0].Args) != `{"text":"hi there"}` {
			t.Errorf("%+v", w.wishes)
		}
		w.permit = errors.New("Not allowed")
		if _, err := w.call(w.tool("mcp__echo__echo"), `{}`); err == nil || err.Error() != "Not allowed" {
			t.Error(err)
		}
		w.settle() // nobody wants it any more
		synctest.Wait()
		if got := w.hub.Tools(); len(got) != 0 {
			t.Error(len(got))
		}
	})
}

func TestRefusesWhatIsNoObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]func(io.Reader, io.Writer){"echo": sdk(t, echoServer())})
		w.settle(Server{ID: "echo"})
		for _, args := range []string{`[]`, `"x"`, `{`, `1`} {
			if _, err := w.call(w.tool("mcp__echo__echo"), args); err == nil {
				t.Errorf("%s was sent", args)
			}
		}
		if len(w.wishes) != 0 {
			t.Error("a person was asked about it")
		}
	})
}

// Crashing again and again turns a server off, with a reason; asking for it
// brings it back.
func TestFault_F_NODE_08_CrashLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]func(io.Reader, io.Writer){"bad": func(io.Reader, io.Writer) {}, "echo": sdk(t, echoServer())})
		w.settle(Server{ID: "bad"}, Server{ID: "echo"})
		pass(t, 10*time.Minute) // of synctest's clock
		synctest.Wait()
		st := w.hub.Status()
		if st[0].State != Failed || !strings.Contains(st[0].Problem, "ended 5 times in a row") || w.starts["bad"] != maxCrashes {
			t.Fatalf("%+v after %d starts", st[0], w.starts["bad"])
		}
		if st[1].State != Ready || w.starts["echo"] != 1 {
			t.Errorf("the other one: %+v", st[1])
		}
		w.mu.Lock()
		w.serve["bad"] = sdk(t, echoServer())
		w.mu.Unlock()
		if err := w.hub.Restart("bad"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if st := w.hub.Status(); st[0].State != Ready || st[0].Problem != "" {
			t.Errorf("%+v", st[0])
		}
	})
}

// A server that does not answer holds up nobody for long, and one whose calls
// hang is started anew; the call is not repeated.
func TestFault_F_NODE_08_Hang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		s := echoServer()
		s.AddTool(&mcp.Tool{Name: "hang", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				calls.Add(1)
				<-ctx.Done()
				return nil, ctx.Err()
			})
		w := newWorld(t, map[string]func(io.Reader, io.Writer){
			"mute": func(in io.Reader, _ io.Writer) { _, _ = io.Copy(io.Discard, in) }, "slow": sdk(t, s),
		})
		began := time.Now()
		st := w.settle(Server{ID: "mute"}, Server{ID: "slow", Timeout: 2 * time.Second})
		if st[0].State == Ready || !strings.Contains(st[0].Problem, "did not answer within 30s") || time.Since(began) > time.Minute {
			t.Fatalf("%+v after %s", st[0], time.Since(began))
		}
		for range maxTimeouts {
			_, err := w.call(w.tool("mcp__slow__hang"), `{}`)
			if err == nil || !strings.Contains(err.Error(), "did not answer within 2s") || !strings.Contains(err.Error(), "may have taken effect") {
				t.Fatal(err)
			}
		}
		if calls.Load() != maxTimeouts {
			t.Errorf("%d calls", calls.Load())
		}
		pass(t, time.Minute)
		synctest.Wait()
		if w.starts["slow"] != 2 || w.hub.Status()[1].State != Ready {
			t.Errorf("%d starts, %+v", w.starts["slow"], w.hub.Status()[1])
		}
	})
}

// A server that ends in the middle of a call.
func TestFault_F_NODE_08_CrashInACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := echoServer()
		var p *program
		var calls atomic.Int64
		s.AddTool(&mcp.Tool{Name: "die", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				calls.Add(1)
				p.Stop()
				<-ctx.Done()
				return nil, ctx.Err()
			})
		w := newWorld(t, nil)
		w.hub.o.Launch = func(context.Context, Server) (Process, error) {
			p = start(sdk(t, s))
			return p, nil
		}
		w.settle(Server{ID: "s"})
		_, err := w.call(w.tool("mcp__s__die"), `{}`)
		if err == nil || !strings.Contains(err.Error(), "not repeated") {
			t.Fatal(err)
		}
		pass(t, time.Minute)
		synctest.Wait()
		if calls.Load() != 1 || w.hub.Status()[0].State != Ready {
			t.Errorf("%d calls, %+v", calls.Load(), w.hub.Status()[0])
		}
	})
}

// A stopped run stops its call, and the server is told.
func TestCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan struct{})
		s := echoServer()
		s.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				close(told)
				return nil, ctx.Err()
			})
		w := newWorld(t, map[string]func(io.Reader, io.Writer){"s": sdk(t, s)})
		w.settle(Server{ID: "s"})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		wait := w.tool("mcp__s__wait")
		go func() {
			_, err := wait.Run(ctx, tool.Call{Progress: func(string) {}})
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		<-told
	})
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := echoServer()
		s.AddTool(&mcp.Tool{Name: "work", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				for i := range 3 {
					_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(),
						Progress: float64(i + 1), Total: 3, Message: "step\x1b[2J"})
					pass(t, time.Second)
				}
				return &mcp.CallToolResult{}, nil
			})
		w := newWorld(t, map[string]func(io.Reader, io.Writer){"s": sdk(t, s)})
		w.settle(Server{ID: "s"})
		var got []string
		var mu sync.Mutex
		_, err := w.tool("mcp__s__work").Run(t.Context(), tool.Call{Progress: func(s string) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, s)
		}})
		if err != nil || fmt.Sprint(got) != "[1 of 3: step[2J 2 of 3: step[2J 3 of 3: step[2J]" {
			t.Errorf("%q %v", got, err)
		}
	})
}
