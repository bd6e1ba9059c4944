//go:build desktop && linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// These tests run the real program against a real gateway, X server and
// session bus. The bus's icon host is the test itself, so that a row can be
// read and pressed. build/test starts the display and the bus.
const needs = "HEARTH_REQUIRE_DESKTOP"

func desktop(t *testing.T) {
	t.Helper()
	for _, name := range []string{"DISPLAY", "DBUS_SESSION_BUS_ADDRESS"} {
		if os.Getenv(name) == "" {
			if os.Getenv(needs) != "" {
				t.Fatalf("%s is not set", name)
			}
			t.Skip("needs a display and a session bus: build/test --only desktop")
		}
	}
}

// built are the two programs, built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hearth-desktop-")
	if err != nil {
		return "", err
	}
	for _, b := range [][]string{{"hearth", "../hearth"}, {"hearth-tray", "-tags", "desktop", "."}} {
		args := append([]string{"build", "-o", filepath.Join(dir, b[0])}, b[1:]...)
		cmd := exec.Command("go", args...)
		if b[0] == "hearth" {
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go %v: %w\n%s", args, err, out)
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := built(); os.Getenv("DISPLAY") != "" && err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// host is the part of a panel that icons register with.
type host struct {
	conn  *dbus.Conn
	items chan [2]string // bus name, object path
}

func (h *host) RegisterStatusNotifierItem(s string, sender dbus.Sender) *dbus.Error {
	name, path := s, "/StatusNotifierItem"
	if strings.HasPrefix(s, "/") { // libayatana passes an object path
		name, path = string(sender), s
	}
	h.items <- [2]string{name, path}
	return nil
}

func (h *host) RegisterStatusNotifierHost(string) *dbus.Error { return nil }

const watcher = "org.kde.StatusNotifierWatcher"

func newHost(t *testing.T) *host {
	t.Helper()
	c, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	h := &host{conn: c, items: make(chan [2]string, 8)}
	if err := c.Export(h, "/StatusNotifierWatcher", watcher); err != nil {
		t.Fatal(err)
	}
	if _, err := prop.Export(c, "/StatusNotifierWatcher", prop.Map{watcher: {
		"IsStatusNotifierHostRegistered": {Value: true, Emit: prop.EmitTrue},
		"ProtocolVersion":                {Value: int32(0), Emit: prop.EmitTrue},
		"RegisteredStatusNotifierItems":  {Value: []string{}, Emit: prop.EmitTrue},
	}}); err != nil {
		t.Fatal(err)
	}
	if r, err := c.RequestName(watcher, dbus.NameFlagDoNotQueue); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("be the icon host: %v %v", r, err)
	}
	return h
}

// icon is what registered, and its menu.
type icon struct {
	t    *testing.T
	item dbus.BusObject
	menu dbus.BusObject
}

type node struct {
	ID       int32
	Props    map[string]dbus.Variant
	Children []dbus.Variant
}

func (h *host) icon(t *testing.T) icon {
	t.Helper()
	select {
	case it := <-h.items:
		item := h.conn.Object(it[0], dbus.ObjectPath(it[1]))
		v, err := item.GetProperty("org.kde.StatusNotifierItem.Menu")
		if err != nil {
			t.Fatal(err)
		}
		return icon{t, item, h.conn.Object(it[0], v.Value().(dbus.ObjectPath))}
	case <-time.After(20 * time.Second):
		t.Fatal("no icon registered")
	}
	panic("unreachable")
}

// rows are the visible rows by their labels, those of submenus with the label
// of the row above before them.
func (i icon) rows() map[string]int32 {
	var rev uint32
	var root node
	if err := i.menu.Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{"label", "visible", "enabled", "type"}).Store(&rev, &root); err != nil {
		i.t.Fatal(err)
	}
	out := map[string]int32{}
	var walk func(n node, under string)
	walk = func(n node, under string) {
		for _, ch := range n.Children {
			var c node
			if err := dbus.Store([]any{ch.Value()}, &c); err != nil {
				i.t.Fatal(err)
			}
			if v, ok := c.Props["visible"]; ok && v.Value() == false {
				continue
			}
			label, _ := c.Props["label"].Value().(string)
			if label != "" {
				out[under+label] = c.ID
			}
			walk(c, under+label+" > ")
		}
	}
	walk(root, "")
	return out
}

// until waits for a row whose label begins so.
func (i icon) until(prefix string) int32 {
	i.t.Helper()
	for range 400 {
		for label, id := range i.rows() {
			if strings.HasPrefix(label, prefix) {
				return id
			}
		}
		pause(i.t, 50*time.Millisecond)
	}
	i.t.Fatalf("no row %q in %v", prefix, slices.Sorted(mapKeys(i.rows())))
	return 0
}

func (i icon) press(prefix string) {
	i.t.Helper()
	id := i.until(prefix)
	pause(i.t, fresh) // a row that changed a moment ago is not done
	if err := i.menu.Call("com.canonical.dbusmenu.Event", 0, id, "clicked", dbus.MakeVariant(""), uint32(0)).Err; err != nil {
		i.t.Fatal(err)
	}
}

// picture is the file that is shown.
func (i icon) picture() []byte {
	v, err := i.item.GetProperty("org.kde.StatusNotifierItem.IconName")
	if err != nil {
		i.t.Fatal(err)
	}
	b, err := os.ReadFile(v.Value().(string))
	if err != nil {
		i.t.Fatal(err)
	}
	return b
}

func (i icon) shows(name string) {
	i.t.Helper()
	want, err := icons.ReadFile("icons/" + name + ".png")
	if err != nil {
		i.t.Fatal(err)
	}
	for range 200 {
		if slices.Equal(i.picture(), want) {
			return
		}
		pause(i.t, 50*time.Millisecond)
	}
	i.t.Fatalf("the icon is not %s", name)
}

func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-t.Context().Done():
	case <-time.After(d):
	}
}

func mapKeys(m map[string]int32) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// program is a running hearth-tray with a home of its own.
type program struct {
	t    *testing.T
	home string
	dir  statedir.Dir
	bin  string   // where the programs lie; empty: where they were built
	env  []string // instead of the tests' own
	cmd  *exec.Cmd
	done chan error
	log  *strings.Builder
}

func newProgram(t *testing.T) *program {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	home := folder(t)
	p := &program{t: t, home: home, dir: statedir.Dir(filepath.Join(home, "state"))}
	if err := p.dir.Ensure(); err != nil {
		t.Fatal(err)
	}
	conf := fmt.Sprintf(`{ gateway: { port: %s }, agents: { defaults: { skipBootstrap: true } } }`, port)
	if err := os.WriteFile(filepath.Join(string(p.dir), "hearth.json"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// newProgramIn is another program in the home of p.
func newProgramIn(t *testing.T, p *program) *program {
	return &program{t: t, home: p.home, dir: p.dir}
}

func (p *program) start(more ...string) {
	p.t.Helper()
	dir, err := built()
	if err != nil {
		p.t.Fatal(err)
	}
	if p.bin != "" {
		dir = p.bin
	}
	p.cmd = exec.Command(filepath.Join(dir, "hearth-tray"), more...)
	p.cmd.Env = []string{"HOME=" + p.home, "HEARTH_HOME=" + string(p.dir), "TMPDIR=" + p.home, "PATH=" + os.Getenv("PATH"), "DISPLAY=" + os.Getenv("DISPLAY"),
		"XAUTHORITY=" + os.Getenv("XAUTHORITY"), "DBUS_SESSION_BUS_ADDRESS=" + os.Getenv("DBUS_SESSION_BUS_ADDRESS"), "XDG_RUNTIME_DIR=" + os.Getenv("XDG_RUNTIME_DIR")}
	p.cmd.Env = append(p.cmd.Env, p.env...)
	p.log = &strings.Builder{}
	p.cmd.Stderr = p.log
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.done = make(chan error, 1)
	go func() { p.done <- p.cmd.Wait() }()
	p.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		if p.t.Failed() {
			p.t.Logf("hearth-tray said:\n%s", p.log)
		}
	})
}

// ended waits for the end of the program.
func (p *program) ended() error {
	p.t.Helper()
	select {
	case err := <-p.done:
		return err
	case <-time.After(20 * time.Second):
		p.t.Fatal("it did not end")
	}
	return nil
}

// gatewayPID is the gateway's, 0: none runs.
func (p *program) gatewayPID() int {
	r, err := p.dir.ReadRuntime()
	if err != nil {
		return 0
	}
	return r.PID
}

func (p *program) call(method string, params, result any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	c, err := client.Open(ctx, p.dir, client.Options{Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "test"}, Scopes: []protocol.Scope{protocol.ScopeAdmin, protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeApprovals}})
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	if err := c.Call(ctx, method, params, result); err != nil {
		p.t.Fatal(err)
	}
}

func TestTheIconStartsAGatewayAnswersRequestsAndEndsIt(t *testing.T) {
	desktop(t)
	h := newHost(t)
	p := newProgram(t)
	p.start()
	i := h.icon(t)
	i.until("Ready")
	i.shows("ready")
	if p.gatewayPID() == 0 {
		t.Fatal("no gateway runs")
	}

	// The guide runs the tool that it is told to: a command asks first.
	var sent json.RawMessage
	p.call(protocol.MethodChatSend, map[string]any{"sessionKey": "agent:main:main", "message": `/tool exec {"command": "touch pressed"}`, "idempotencyKey": "one"}, &sent)
	i.until("Needs you: 1 request")
	i.shows("needs-you")
	i.press("Allow: touch pressed > Allow once")
	i.until("Ready")
	i.shows("ready")
	if _, err := os.Stat(filepath.Join(p.home, "Hearth", "pressed")); err != nil {
		t.Errorf("the command that was allowed did not run: %v", err)
	}
	i.until("Recent > /tool exec")

	i.press("Start at login")
	i.until("✓ Start at login")
	if _, err := os.Stat(filepath.Join(p.home, ".config", "autostart", "hearth.desktop")); err != nil {
		t.Error(err)
	}
	i.press("✓ Start at login")
	i.until("Start at login")

	i.press("Pause > Tools only")
	i.until("Paused")
	i.shows("paused")
	i.press("Resume > Resume now")
	i.until("Ready")

	// A gateway that is killed is there again.
	first := p.gatewayPID()
	kill(t, first)
	i.until("Not running")
	i.until("Ready")
	if now := p.gatewayPID(); now == first || now == 0 {
		t.Errorf("the gateway has process %d, before %d", now, first)
	}

	last := p.gatewayPID()
	i.press("Quit Hearth")
	if err := p.ended(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if running(last) {
		t.Error("the gateway still runs")
	}
}

// A gateway of somebody else is used, and goes on when the icon is gone.
func TestTheIconAttachesToAGatewayThatRuns(t *testing.T) {
	desktop(t)
	h := newHost(t)
	p := newProgram(t)
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	g := exec.Command(filepath.Join(dir, "hearth"), "gateway", "--quiet")
	g.Env = []string{"HOME=" + p.home, "HEARTH_HOME=" + string(p.dir), "PATH=" + os.Getenv("PATH")}
	if err := g.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Process.Kill(); _ = g.Wait() })
	for range 200 {
		if p.gatewayPID() != 0 {
			break
		}
		pause(t, 50*time.Millisecond)
	}
	p.start()
	i := h.icon(t)
	i.until("Ready")

	second := newProgramIn(t, p)
	second.start()
	if err := second.ended(); err == nil || !strings.Contains(second.log.String(), "already in the menu bar") {
		t.Errorf("a second icon: %v, %s", err, second.log)
	}

	i.press("Quit (Hearth goes on")
	if err := p.ended(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if !running(g.Process.Pid) {
		t.Error("the gateway was ended")
	}
}

func TestFault_NoDisplayAndNoBus(t *testing.T) {
	desktop(t)
	p := newProgram(t)
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for _, env := range [][]string{{"DBUS_SESSION_BUS_ADDRESS=" + os.Getenv("DBUS_SESSION_BUS_ADDRESS")}, {"DISPLAY=" + os.Getenv("DISPLAY")}} {
		cmd := exec.Command(filepath.Join(dir, "hearth-tray"))
		cmd.Env = append(env, "HOME="+p.home, "HEARTH_HOME="+string(p.dir))
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "hearth gateway") {
			t.Errorf("%v: %v, %s", env, err, out)
		}
	}
}

func TestFault_F_GW_TheTrayIsKilledAndTheGatewayEndsWithIt(t *testing.T) {
	desktop(t)
	h := newHost(t)
	p := newProgram(t)
	p.start()
	h.icon(t).until("Ready")
	pid := p.gatewayPID()
	_ = p.cmd.Process.Kill()
	for range 200 {
		if !running(pid) {
			return
		}
		pause(t, 50*time.Millisecond)
	}
	t.Fatal("the gateway outlived the icon")
}

func running(pid int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	return err == nil
}

func kill(t *testing.T, pid int) {
	t.Helper()
	pr, err := os.FindProcess(pid)
	if err == nil {
		err = pr.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// folder is a temporary one that is taken away when nothing writes into it any
// more: what was killed may have left others that end a moment later.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hearth-desktop-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		again := time.NewTicker(50 * time.Millisecond)
		defer again.Stop()
		for range 200 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			<-again.C
		}
		t.Error(err)
	})
	return dir
}
