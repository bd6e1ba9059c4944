package node

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/internal/rerun"
)

const guardianArg = "__child"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == guardianArg {
		rerun.Exit(process.Child())
	}
	goleak.VerifyTestMain(m)
}

// gateway is one of a few lines: it lets nodes in, asks and takes answers.
type gateway struct {
	*httptest.Server
	t      *testing.T
	joined chan *nodeConn
	refuse func(n int) *protocol.Error // nil: let in

	mu       sync.Mutex
	connects []protocol.ConnectParams
	conns    sync.WaitGroup
}

// nodeConn is the gateway's end of one node's connection.
type nodeConn struct {
	g       *gateway
	ws      *websocket.Conn
	connect protocol.ConnectParams
	events  chan protocol.NodeEventParams
	// what commands print meanwhile
	progress chan protocol.NodeProgressParams

	mu      sync.Mutex
	waiting map[string]chan protocol.NodeResultParams
	nextID  int
}

func newGateway(t *testing.T) *gateway {
	g := &gateway{t: t, joined: make(chan *nodeConn, 16)}
	g.Server = httptest.NewServer(http.HandlerFunc(g.handle))
	t.Cleanup(func() { g.Close(); g.conns.Wait() })
	return g
}

func (g *gateway) handle(w http.ResponseWriter, r *http.Request) {
	g.conns.Add(1)
	defer g.conns.Done()
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(64 << 20)
	ctx := g.t.Context()
	n := &nodeConn{g: g, ws: ws, waiting: map[string]chan protocol.NodeResultParams{}, events: make(chan protocol.NodeEventParams, 64),
		progress: make(chan protocol.NodeProgressParams, 64)}
	n.event(protocol.EventConnectChallenge, protocol.Challenge{Nonce: "nonce-1", TS: 1795215472398})
	for {
		_, b, err := ws.Read(ctx)
		if err != nil {
			return
		}
		var req protocol.Request
		if json.Unmarshal(b, &req) != nil {
			g.t.Errorf("not a request: %s", b)
			return
		}
		res := protocol.Response{Type: protocol.TypeResponse, ID: req.ID, OK: true, Payload: json.RawMessage(`{"ok":true}`)}
		if req.Method == protocol.MethodConnect {
			_ = json.Unmarshal(req.Params, &n.connect)
			g.mu.Lock()
			g.connects = append(g.connects, n.connect)
			count := len(g.connects)
			g.mu.Unlock()
			if g.refuse != nil {
				if e := g.refuse(count); e != nil {
					n.send(protocol.Response{Type: protocol.TypeResponse, ID: req.ID, Error: e})
					return
				}
			}
			res.Payload, _ = json.Marshal(protocol.HelloOK{Type: "hello-ok", Protocol: protocol.Version, Policy: protocol.HelloPolicy{
				TickIntervalMs: 30000},
				Features: protocol.Features{Methods: []string{protocol.MethodNodeInvokeProgress}}})
		}
		n.take(req)
		n.send(res)
		if req.Method == protocol.MethodConnect {
			g.joined <- n
		}
	}
}

func (n *nodeConn) take(req protocol.Request) {
	switch req.Method {
	case protocol.MethodNodeInvokeResult:
		var p protocol.NodeResultParams
		_ = json.Unmarshal(req.Params, &p)
		n.mu.Lock()
		ch := n.waiting[p.ID]
		n.mu.Unlock()
		if ch != nil {
			ch <- p
		}
	case protocol.MethodNodeInvokeProgress:
		var p protocol.NodeProgressParams
		_ = json.Unmarshal(req.Params, &p)
		n.progress <- p
	case protocol.MethodNodeEvent:
		var p protocol.NodeEventParams
		_ = json.Unmarshal(req.Params, &p)
		n.events <- p
	}
}

func (n *nodeConn) send(v any) {
	b, _ := json.Marshal(v)
	_ = n.ws.Write(n.g.t.Context(), websocket.MessageText, b)
}

func (n *nodeConn) event(name string, payload any) {
	b, _ := json.Marshal(payload)
	n.send(protocol.Event{Type: protocol.TypeEvent, Event: name, Payload: b})
}

// begin asks and returns where the answer comes.
func (n *nodeConn) begin(nodeID, command string, params any, limit time.Duration) (string, chan protocol.NodeResultParams) {
	n.mu.Lock()
	n.nextID++
	id := "call-" + strconv.Itoa(n.nextID)
	ch := make(chan protocol.NodeResultParams, 2)
	n.waiting[id] = ch
	n.mu.Unlock()
	b, _ := json.Marshal(params)
	text := string(b)
	n.event(protocol.EventNodeInvokeRequest, protocol.NodeInvokeRequest{ID: id, NodeID: nodeID, Command: command, ParamsJSON: &text,
		TimeoutMs: limit.Milliseconds()})
	return id, ch
}

// rig is a host with its gateway.
type rig struct {
	t    *testing.T
	g    *gateway
	o    Options
	dir  string
	said chan State
	n    *nodeConn
	stop context.CancelFunc
	done chan error
}

func newRig(t *testing.T, change func(*Options, *Settings)) *rig {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("these tests run Unix programs")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := statedir.Dir(filepath.Join(base, "state"))
	r := &rig{t: t, g: newGateway(t), dir: base, said: make(chan State, 64), done: make(chan error, 1)}
	s := Settings{}
	r.o = Options{
		Device: &client.Identity{Key: ed25519.NewKeyFromSeed(make([]byte, 32))}, Folder: Folder{dir}, Version: "test", Name: "desk",
		Environ: []string{"PATH=/usr/bin:/bin", "HOME=" + base, "SECRET_TOKEN=canary"}, Home: base, Work: dir.NodeWork(),
		Guardian: []string{os.Args[0], os.Args[0], guardianArg}, Report: func(s State) { r.said <- s },
		Dial: func(ctx context.Context, o client.Options, _ int) (*client.Client, error) {
			o.URL, o.Token = strings.Replace(r.g.URL, "http", "ws", 1), "t"
			return client.Dial(ctx, o)
		},
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	if change != nil {
		change(&r.o, &s)
	}
	if err := r.o.Folder.Save(s); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) start() *rig {
	var ctx context.Context
	ctx, r.stop = context.WithCancel(r.t.Context())
	go func() { r.done <- New(r.o).Run(ctx) }()
	r.t.Cleanup(func() {
		r.stop()
		if err := <-r.done; err != nil {
			r.t.Logf("the host ended with: %v", err)
		}
	})
	return r
}

func (r *rig) join() *rig {
	r.t.Helper()
	select {
	case r.n = <-r.g.joined:
	case <-time.After(20 * time.Second):
		r.t.Fatal("the node does not connect")
	}
	return r
}

func (r *rig) id() string { return r.o.Device.ID() }

func (r *rig) invoke(command string, params any) protocol.NodeResultParams {
	r.t.Helper()
	_, ch := r.n.begin(r.id(), command, params, 30*time.Second)
	return wait(r.t, ch)
}

func wait(t *testing.T, ch chan protocol.NodeResultParams) protocol.NodeResultParams {
	t.Helper()
	select {
	case p := <-ch:
		return p
	case <-time.After(40 * time.Second):
		t.Fatal("no answer")
		return protocol.NodeResultParams{}
	}
}

// ok decodes an answer that must be one.
func (r *rig) ok(command string, params, into any) {
	r.t.Helper()
	p := r.invoke(command, params)
	if !p.OK || p.PayloadJSON == nil {
		r.t.Fatalf("%s: %+v", command, p.Error)
	}
	if err := json.Unmarshal([]byte(*p.PayloadJSON), into); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) fails(command string, params any, code, words string) {
	r.t.Helper()
	p := r.invoke(command, params)
	if p.OK || p.Error == nil || p.Error.Code != code || !strings.Contains(p.Error.Message, words) {
		r.t.Errorf("%s: ok %v, %+v; want %s %q", command, p.OK, p.Error, code, words)
	}
}

func TestConnect(t *testing.T) {
	r := newRig(t, func(_ *Options, s *Settings) { s.Set("screen", true); s.Set("canvas", false) }).start().join()
	c := r.n.connect
	if c.Role != protocol.RoleNode || len(c.Scopes) != 0 || c.Client.ID != "node-host" || c.Client.Mode != "node" ||
		c.Client.DisplayName != "desk" {
		t.Errorf("%+v", c)
	}
	for command, want := range map[string]bool{"system.run": true, "system.which": true, "screen.snapshot": true, "camera.snap": false,
		"location.get": false, "canvas.present": false} {
		if got := strings.Contains(strings.Join(c.Commands, " "), command); got != want {
			t.Errorf("%s offered: %v", command, got)
		}
	}
	if s := <-r.said; s.Phase != Connected {
		t.Errorf("%+v", s)
	}
	r.fails("camera.snap", nil, "FORBIDDEN", "hearth node allow camera")
	r.fails("format.disk", nil, "INVALID_REQUEST", "does not know")
	r.fails("system.which", map[string]any{"bins": 3}, "INVALID_REQUEST", "parameters")
	var bins struct{ Bins map[string]string }
	r.ok("system.which", map[string]any{"bins": []string{"sh", "no-such", "../sh", "/bin/sh"}}, &bins)
	if len(bins.Bins) != 1 || !filepath.IsAbs(bins.Bins["sh"]) {
		t.Errorf("%v", bins.Bins)
	}
	var info map[string]any
	r.ok("device.info", nil, &info)
	if info["deviceName"] != "desk" || info["systemName"] == "" {
		t.Errorf("%v", info)
	}
	r.ok("device.status", nil, &info)
}

// A dropped link comes back; calls that were under way end with it.
func TestFault_F_NODE_01_LinkDrops(t *testing.T) {
	r := newRig(t, nil).start().join()
	r.n.begin("somebody else", "system.which", map[string]any{"bins": []string{"sh"}}, time.Second) // is not for us
	p := r.prepare([]string{"/bin/sleep", "300"}, nil)
	r.n.begin(r.id(), "system.run", p, time.Minute)
	_ = r.n.ws.CloseNow()
	r.join() // only after the command has ended
	if !strings.Contains((<-r.said).Phase.text()+(<-r.said).Phase.text()+(<-r.said).Phase.text(), "connected lost connected") {
		t.Error("what was reported")
	}
	var bins struct{ Bins map[string]string }
	r.ok("system.which", map[string]any{"bins": []string{"sh"}}, &bins)
}

// However long the gateway was there, its return is looked for at once; after a
// while without it, less often.
func TestPauses(t *testing.T) {
	var mu sync.Mutex
	now, pauses := time.Unix(1e9, 0), []time.Duration{}
	pass := func(d time.Duration) { mu.Lock(); now = now.Add(d); mu.Unlock() }
	ended := make(chan struct{})
	r := newRig(t, func(o *Options, _ *Settings) {
		o.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
		o.Wait = func(ctx context.Context, d time.Duration) error {
			pauses = append(pauses, d)
			pass(d)
			if len(pauses) == 200 {
				close(ended)
				<-ctx.Done()
			}
			return ctx.Err()
		}
	}).start().join()
	pass(time.Hour)
	r.g.refuse = func(int) *protocol.Error { return protocol.Unavailable(0, "starting") }
	r.g.Close()
	_ = r.n.ws.CloseNow()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("it does not try again")
	}
	if pauses[0] > firstPause || pauses[20] > longestPause || pauses[20] < longestPause/2 || pauses[199] < idlePause/2 ||
		pauses[199] > idlePause {
		t.Errorf("%v", pauses)
	}
}

func (p Phase) text() string { return string(p) + " " }

func TestFault_F_NODE_03_Cancel(t *testing.T) {
	r := newRig(t, nil).start().join()
	id, ch := r.n.begin(r.id(), "system.run", r.prepare([]string{"/bin/sleep", "300"}, nil), time.Minute)
	r.n.event(protocol.EventNodeInvokeCancel, protocol.NodeInvokeCancel{InvokeID: id, NodeID: r.id()})
	if p := wait(t, ch); p.OK && !strings.Contains(*p.PayloadJSON, "stopped") {
		t.Errorf("%+v %s", p, *p.PayloadJSON)
	}
	_, ch = r.n.begin(r.id(), "system.run", r.prepare([]string{"/bin/sleep", "300"}, nil), time.Second)
	if p := wait(t, ch); !p.OK || !strings.Contains(*p.PayloadJSON, `"timedOut":true`) {
		t.Errorf("%+v", p)
	}
}

// Each refusal means one thing: wait for a person, try again, or end.
func TestRefusals(t *testing.T) {
	pairing := func(reason string) *protocol.Error {
		return &protocol.Error{Code: protocol.CodeNotPaired, Message: "pairing required", Details: map[string]any{"code": "PAIRING_REQUIRED",
			"reason": reason, "requestId": "r1"}}
	}
	t.Run("waits, then is let in", func(t *testing.T) {
		r := newRig(t, nil)
		r.g.refuse = func(n int) *protocol.Error {
			switch n {
			case 1, 2:
				return pairing("not-paired")
			case 3:
				return protocol.Unavailable(10, "starting")
			}
			return nil
		}
		r.start().join()
		for _, want := range []Phase{Waiting, Lost, Connected} {
			if s := <-r.said; s.Phase != want || want == Waiting && s.Request != "r1" {
				t.Errorf("%+v, want %s", s, want)
			}
		}
	})
	for name, e := range map[string]*protocol.Error{
		"revoked": pairing("revoked"),
		"token":   {Code: protocol.CodeInvalidRequest, Message: "unauthorized", Details: map[string]any{"code": "AUTH_DEVICE_TOKEN_MISMATCH"}},
	} {
		t.Run("ends when "+name, func(t *testing.T) {
			r := newRig(t, nil)
			r.g.refuse = func(int) *protocol.Error { return e }
			if err := New(r.o).Run(t.Context()); !errors.Is(err, ErrRemoved) {
				t.Error(err)
			}
			if s := <-r.said; s.Phase != Ended || len(r.g.connects) != 1 {
				t.Errorf("%+v %d", s, len(r.g.connects))
			}
		})
	}
}

// More than it can do at once is refused, and nothing of it is lost.
func TestSec_A_NODE_09_TooMuchAtOnce(t *testing.T) {
	r := newRig(t, nil).start().join()
	var ids []string
	var all []chan protocol.NodeResultParams
	for range maxCalls {
		id, ch := r.n.begin(r.id(), "system.run", r.prepare([]string{"/bin/sleep", "300"}, nil), time.Minute)
		ids, all = append(ids, id), append(all, ch)
	}
	r.fails("device.info", nil, "UNAVAILABLE", "at once")
	for i, id := range ids {
		r.n.event(protocol.EventNodeInvokeCancel, protocol.NodeInvokeCancel{InvokeID: id, NodeID: r.id()})
		wait(t, all[i])
	}
	var info map[string]any
	r.ok("device.info", nil, &info)
}

func (r *rig) prepare(argv []string, more map[string]any) map[string]any {
	r.t.Helper()
	in := map[string]any{"command": argv, "agentId": "main", "sessionKey": "agent:main:main"}
	for k, v := range more {
		in[k] = v
	}
	var out struct{ Plan map[string]any }
	r.ok("system.run.prepare", in, &out)
	run := map[string]any{"command": argv, "systemRunPlan": out.Plan, "agentId": "main", "sessionKey": "agent:main:main", "approved": true,
		"approvalDecision": "allow-once"}
	for k, v := range more {
		run[k] = v
	}
	return run
}

func FuzzCalls(f *testing.F) {
	f.Add("system.run", `{"command":["/bin/true"],"approved":true}`)
	f.Add("system.run.prepare", `{"command":["x"],"cwd":"\u0000"}`)
	f.Add("canvas.present", `{"url":"javascript:alert(1)"}`)
	f.Add("system.execApprovals.set", `{"file":{"version":1,"agents":{"*":{"allowlist":[{"pattern":"/bin/sh"}]}}}}`)
	dir := statedir.Dir(filepath.Join(f.TempDir(), "state"))
	h := New(Options{Device: &client.Identity{Key: ed25519.NewKeyFromSeed(make([]byte, 32))}, Folder: Folder{dir}, Home: f.TempDir(),
		Work: f.TempDir()})
	f.Fuzz(func(t *testing.T, name, params string) {
		cn := newConn(t.Context(), h)
		defer cn.end()
		cn.c = nil
		switch name {
		case "system.run", "system.run.prepare", "canvas.present", "system.which", "system.execApprovals.set":
		default:
			return
		}
		v, err := h.commands[name](t.Context(), cn, json.RawMessage(params))
		if name == "system.run" && err == nil {
			t.Errorf("it ran: %s: %v", params, v)
		}
		if a, _, _, err := h.o.Folder.Approvals(); err != nil || len(a.Agents[Everybody].Allowlist) > 0 {
			t.Errorf("the list was widened: %s", params)
		}
	})
}
