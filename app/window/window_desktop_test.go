//go:build desktop && linux

package window

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// These tests open the real window on a real gateway and X server, and look
// into it through WebKit's own inspector. build/test starts the display.
func needDesktop(t *testing.T) {
	t.Helper()
	for _, name := range []string{"DISPLAY", "DBUS_SESSION_BUS_ADDRESS"} {
		if os.Getenv(name) == "" {
			if os.Getenv("HEARTH_REQUIRE_DESKTOP") != "" {
				t.Fatalf("%s is not set", name)
			}
			t.Skip("needs a display and a session bus: build/test --only desktop")
		}
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// compiled are the programs, built once.
var compiled = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hearth-window-")
	if err != nil {
		return "", err
	}
	for name, args := range map[string][]string{
		"hearth":        {"../hearth"},
		"hearth-window": {"-tags", "desktop,production,webkit2_41", "../.."},
	} {
		out, err := exec.Command("go", append([]string{"build", "-o", filepath.Join(dir, name)}, args...)...).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("DISPLAY") != "" {
		if dir, err := compiled(); err == nil {
			_ = os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// built are the programs, beside each other as an installation has them.
func built(t *testing.T, names ...string) string {
	t.Helper()
	from, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t)
	for _, name := range names {
		if err := os.Link(filepath.Join(from, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

type shown struct {
	t         *testing.T
	home      string
	bin       string
	inspector string
	cmd       *exec.Cmd
	done      chan error
	log       *strings.Builder
}

func show(t *testing.T, bin, home string, args ...string) *shown {
	t.Helper()
	s := &shown{t: t, home: home, bin: bin, inspector: "127.0.0.1:" + freePort(t), log: &strings.Builder{}}
	s.cmd = exec.Command(filepath.Join(bin, "hearth-window"), args...)
	s.cmd.Env = append(s.env(), "WEBKIT_INSPECTOR_HTTP_SERVER="+s.inspector)
	s.cmd.Stderr = s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.done = make(chan error, 1)
	go func() { s.done <- s.cmd.Wait() }()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		s.gateway("KILL")
		if t.Failed() {
			t.Logf("hearth-window said:\n%s", s.log)
		}
	})
	return s
}

func (s *shown) env() []string {
	return []string{"HOME=" + s.home, "HEARTH_HOME=" + filepath.Join(s.home, "state"), "TMPDIR=" + s.home, "PATH=" + os.Getenv("PATH"), "DISPLAY=" + os.Getenv("DISPLAY"),
		"XAUTHORITY=" + os.Getenv("XAUTHORITY"), "DBUS_SESSION_BUS_ADDRESS=" + os.Getenv("DBUS_SESSION_BUS_ADDRESS"), "XDG_RUNTIME_DIR=" + os.Getenv("XDG_RUNTIME_DIR")}
}

// gateway signals the gateway of this home, if there is one.
func (s *shown) gateway(signal string) {
	b, err := os.ReadFile(filepath.Join(s.home, "state", "gateway.json"))
	if err != nil {
		return
	}
	var r struct{ PID int }
	if json.Unmarshal(b, &r) == nil && r.PID > 0 {
		_ = exec.Command("kill", "-"+signal, fmt.Sprint(r.PID)).Run()
	}
}

func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-t.Context().Done():
	case <-time.After(d):
	}
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

// eval runs a script in the page, once, and returns its value. The inspector
// drops a connection that comes right behind another one; nothing was run then.
func (s *shown) eval(script string) (v json.RawMessage, err error) {
	for range 20 {
		var sent bool
		if v, sent, err = s.tryEval(script); err == nil || sent {
			break
		}
		pause(s.t, 50*time.Millisecond)
	}
	return v, err
}

// tryEval connects anew each time, because the target changes when the window
// goes to another origin. sent: the script may have run.
func (s *shown) tryEval(script string) (v json.RawMessage, sent bool, err error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.inspector+"/", nil)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, sent, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, sent, err
	}
	path := regexp.MustCompile(`/socket/\d+/\d+/WebPage`).FindString(string(b))
	if path == "" {
		return nil, false, fmt.Errorf("no page yet")
	}
	c, _, err := websocket.Dial(ctx, "ws://"+s.inspector+path, nil)
	if err != nil {
		return nil, sent, err
	}
	defer c.CloseNow()
	c.SetReadLimit(32 << 20)
	target := ""
	for {
		_, d, err := c.Read(ctx)
		if err != nil {
			return nil, sent, err
		}
		var m message
		if err := json.Unmarshal(d, &m); err != nil {
			return nil, sent, err
		}
		switch m.Method {
		case "Target.targetCreated":
			var p struct {
				TargetInfo struct{ TargetID, Type string }
			}
			if json.Unmarshal(m.Params, &p) == nil && p.TargetInfo.Type == "page" && target == "" {
				target = p.TargetInfo.TargetID
				inner, _ := json.Marshal(map[string]any{"id": 1, "method": "Runtime.evaluate", "params": map[string]any{"expression": script, "returnByValue": true}})
				outer, _ := json.Marshal(map[string]any{"id": 1001, "method": "Target.sendMessageToTarget", "params": map[string]any{"targetId": target, "message": string(inner)}})
				sent = true
				if err := c.Write(ctx, websocket.MessageText, outer); err != nil {
					return nil, sent, err
				}
			}
		case "Target.dispatchMessageFromTarget":
			var p struct{ Message string }
			var in message
			if json.Unmarshal(m.Params, &p) != nil || json.Unmarshal([]byte(p.Message), &in) != nil || in.ID != 1 {
				continue
			}
			var r struct {
				Result struct{ Value json.RawMessage }
			}
			err := json.Unmarshal(in.Result, &r)
			return r.Result.Value, true, err
		}
	}
}

// until waits for a script to be true in the page.
func (s *shown) until(what, script string) {
	s.t.Helper()
	var last any
	for range 300 {
		v, err := s.eval("!!(" + script + ")")
		if err == nil && string(v) == "true" {
			return
		}
		last = err
		pause(s.t, 100*time.Millisecond)
	}
	body, _ := s.eval("document.body?.innerText")
	s.t.Fatalf("%s did not come (%v); the window shows %s", what, last, body)
}

func home(t *testing.T) string {
	t.Helper()
	h := folder(t)
	state := filepath.Join(h, "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "hearth.json"), fmt.Appendf(nil, "{ gateway: { port: %s }, agents: { defaults: { model: \"guide/guide\" } } }", freePort(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestTheWindowStartsHearthSendsAMessageAndShowsTheAnswer(t *testing.T) {
	needDesktop(t)
	bin := built(t, "hearth", "hearth-window")
	s := show(t, bin, home(t))
	s.until("the page", `document.querySelector("#composer") && !document.querySelector(".banner.link")`)
	s.until("its knowledge of the window", "window.hearthShell")
	if v, err := s.eval("location.href"); err != nil || strings.Contains(string(v), "launch") {
		t.Errorf("the address holds the code: %s, %v", v, err)
	}
	if _, err := s.eval(`{
		const c = document.querySelector("#composer");
		c.value = "what is 12.5% of 80?";
		c.dispatchEvent(new Event("input", { bubbles: true }));
		c.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
	}`); err != nil {
		t.Fatal(err)
	}
	s.until("the answer", `[...document.querySelectorAll(".row.text .md")].at(-1)?.innerText.includes("10")`)

	// A second start shows a place in the window that is open and ends.
	second := exec.Command(filepath.Join(bin, "hearth-window"), "settings/usage")
	second.Env = s.env()
	_ = second.Run() // Wails ends the second one with 1
	s.until("the settings", `/Allowance & usage/.test(document.querySelector("dialog section h2")?.innerText)`)

	// The gateway is gone and back; the page finds it again.
	s.gateway("KILL")
	s.until("the notice", `document.querySelector(".banner.link")`)
	again := exec.Command(filepath.Join(bin, "hearth"), "gateway", "--quiet")
	again.Env = s.env()
	if err := again.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.Process.Kill(); _ = again.Wait() })
	s.until("the connection", `!document.querySelector(".banner.link")`)
}

// A link is handed to the window that is open; its words are shown and not sent.
func TestSec_A_LINK_01_WordsOfALinkAreShownAndNotSent(t *testing.T) {
	needDesktop(t)
	bin := built(t, "hearth", "hearth-window")
	s := show(t, bin, home(t))
	s.until("the page", `document.querySelector("#composer") && !document.querySelector(".banner.link")`)
	text := "rm -rf / <b>now</b>\n" + strings.Repeat("long ", 700) + "end"
	second := exec.Command(filepath.Join(bin, "hearth-window"), "hearth://chat/agent:main:other?auto=1&send=1&key=agent:main:other&model=x&text="+url.QueryEscape(text))
	second.Env = s.env()
	_ = second.Run() // Wails ends the second one with 1
	want, _ := json.Marshal(text)
	s.until("the offer", `document.querySelector("dialog pre")?.textContent === `+string(want))
	if _, err := s.eval(`document.querySelector("dialog .actions button.primary").click()`); err != nil {
		t.Fatal(err)
	}
	s.until("the words in the message", `document.querySelector("#composer").value === `+string(want))
	if v, err := s.eval(`document.querySelectorAll(".row").length + " " + /other/.test(location.href)`); err != nil || string(v) != `"0 false"` {
		t.Errorf("the link did more: %s, %v", v, err)
	}
}

// A link that offers to pair asks in a dialog of the system; what is not said
// yes to is not done.
func TestSec_A_LINK_03_PairingAsksFirst(t *testing.T) {
	needDesktop(t)
	if _, err := exec.LookPath("xdotool"); err != nil {
		if os.Getenv("HEARTH_REQUIRE_DESKTOP") != "" {
			t.Fatal(err)
		}
		t.Skip("needs xdotool")
	}
	reached := make(chan struct{}, 8)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
			reached <- struct{}{}
		}
	}()
	code := protocol.SetupCode{URL: "wss://" + l.Addr().String(), BootstrapToken: "evil", Pin: "sha256/" + strings.Repeat("A", 43) + "="}
	text, err := code.Encode()
	if err != nil {
		t.Fatal(err)
	}
	bin := built(t, "hearth", "hearth-window")
	s := show(t, bin, home(t), "hearth://pair/"+text)
	dialog := func(title string) string {
		t.Helper()
		for range 200 {
			if out, err := exec.Command("xdotool", "search", "--onlyvisible", "--name", title).Output(); err == nil {
				return strings.Fields(string(out))[0]
			}
			pause(t, 100*time.Millisecond)
		}
		t.Fatalf("no dialog %q", title)
		return ""
	}
	press := func(window, key string) {
		t.Helper()
		if out, err := exec.Command("xdotool", "windowfocus", window, "key", "--clearmodifiers", key).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	press(dialog("Pair with another Hearth?"), "Escape")
	pause(t, time.Second)
	select {
	case <-reached:
		t.Error("it connected without a yes")
	default:
	}
	second := exec.Command(filepath.Join(bin, "hearth-window"), "hearth://pair/"+text)
	second.Env = s.env()
	_ = second.Run()
	press(dialog("Pair with another Hearth?"), "alt+y")
	select {
	case <-reached:
	case <-time.After(20 * time.Second):
		t.Error("it did not connect after a yes")
	}
	press(dialog("Not paired"), "Escape") // it is not the gateway of that key
}

// The small window beside the large one: above the others, ready for words, gone
// with Escape.
func TestTheQuickWindow(t *testing.T) {
	needDesktop(t)
	bin, at := built(t, "hearth", "hearth-window"), home(t)
	s := show(t, bin, at)
	s.until("the page", `document.querySelector("#composer") && !document.querySelector(".banner.link")`)
	q := show(t, bin, at, "--quick")
	q.until("its page, ready for words", `document.activeElement?.id === "composer" && innerWidth < 500`)
	// It may be gone before it answers the inspector.
	_, _ = q.eval(`document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true }))`)
	select {
	case <-q.done:
	case <-time.After(10 * time.Second):
		t.Fatal("Escape did not close it")
	}
	if _, err := s.eval("0"); err != nil {
		t.Errorf("the large one is gone as well: %v", err)
	}
}

// The window is killed while an answer comes: the answer goes on without it, and
// is there when it is opened again.
func TestFault_TheWindowIsKilledInTheMiddleOfAnAnswer(t *testing.T) {
	needDesktop(t)
	goOn, began := make(chan struct{}), make(chan struct{}, 1)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(text string) {
			_, _ = fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", text)
			w.(http.Flusher).Flush()
		}
		say("The first half, ")
		select {
		case began <- struct{}{}:
		default:
		}
		select {
		case <-goOn:
		case <-r.Context().Done():
			return
		}
		say("and the second.")
		_, _ = io.WriteString(w, "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer model.Close()
	at := home(t)
	conf := fmt.Sprintf(`{ gateway: { port: %s }, models: { providers: { slow: { baseUrl: "%s/v1", api: "openai-completions", models: [{ id: "m", contextWindow: 32000 }] } } },
  agents: { defaults: { model: { primary: "slow/m" }, skipBootstrap: true } } }`, freePort(t), model.URL)
	if err := os.WriteFile(filepath.Join(at, "state", "hearth.json"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	bin := built(t, "hearth", "hearth-window")
	s := show(t, bin, at)
	s.until("the page", `document.querySelector("#composer") && !document.querySelector(".banner.link")`)
	if _, err := s.eval(`{
		const c = document.querySelector("#composer");
		c.value = "tell me";
		c.dispatchEvent(new Event("input", { bubbles: true }));
		c.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
	}`); err != nil {
		t.Fatal(err)
	}
	select {
	case <-began:
	case <-time.After(30 * time.Second):
		t.Fatal("the model was not asked")
	}
	s.until("the first half", `document.body.textContent.includes("The first half")`)
	_ = s.cmd.Process.Kill()
	<-s.done
	close(goOn)
	again := show(t, bin, at)
	again.until("the chat", `document.querySelector("#composer") && !document.querySelector(".banner.link")`)
	again.until("the whole answer", `document.querySelector("[role=log]")?.textContent.includes("The first half, and the second.")`)
}

func TestTheWindowSaysWhenHearthCannotBeStarted(t *testing.T) {
	needDesktop(t)
	s := show(t, built(t, "hearth-window"), home(t))
	s.until("what is wrong", `/is not running/.test(document.querySelector("h1")?.innerText) && /install Hearth again/.test(document.querySelector("#why").innerText)`)
	if _, err := s.eval("0"); err != nil {
		t.Fatal(err)
	}
}

func TestWithoutADisplayTheWindowSaysSo(t *testing.T) {
	needDesktop(t)
	cmd := exec.Command(filepath.Join(built(t, "hearth-window"), "hearth-window"))
	cmd.Env = []string{"HOME=" + folder(t)}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "there is no display here") {
		t.Errorf("%v: %s", err, out)
	}
}

// A page that the assistant shows: first the one that is named, then those that
// come as lines, until they end. Nothing of ours is on such a page.
func TestCanvas(t *testing.T) {
	needDesktop(t)
	visits := make(chan string, 16)
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" {
			return
		}
		visits <- r.URL.Path
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<script>fetch('/ours-'+String(Boolean(window.hearthShell||window.go||window.runtime||window.wails)))</script>")
	}))
	t.Cleanup(pages.Close)
	seen := func(want ...string) {
		t.Helper()
		for _, w := range want {
			select {
			case got := <-visits:
				if got != w {
					t.Errorf("visited %s, want %s", got, w)
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("%s was not visited", w)
			}
		}
	}
	bin, home := built(t, "hearth-window"), folder(t)
	s := &shown{t: t, home: home, bin: bin}
	cmd := exec.Command(filepath.Join(bin, "hearth-window"), "--canvas", pages.URL+"/one")
	cmd.Env = s.env()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	seen("/one", "/ours-false")
	for _, line := range []string{"file:///etc/passwd", "javascript:fetch('/bad')", pages.URL + "/two?a='\"</script>"} {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	seen("/two", "/ours-false")
	_ = in.Close()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("it stays when nobody shows anything any more")
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
