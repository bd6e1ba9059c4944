package heartbeat_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/heartbeat"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// forward is a rig whose clock can be put forward.
type forward struct {
	*gatewaytest.Rig
	p     *gatewaytest.Peer
	by    atomic.Int64
	ticks int
}

func putForward(r *gatewaytest.Rig) *forward {
	f := &forward{Rig: r}
	r.Shutdown()
	r.Now = func() time.Time { return time.Now().Add(time.Duration(f.by.Load())) }
	r.Start()
	f.p = r.Connect()
	return f
}

func (f *forward) set(h map[string]any) {
	f.p.Patch(map[string]any{"agents": map[string]any{"defaults": map[string]any{"heartbeat": h}}})
}

// tick lets half an hour pass; a change of the settings makes it look at the
// clock.
func (f *forward) tick() {
	f.by.Add(int64(31 * time.Minute))
	f.ticks++
	f.set(map[string]any{"ackMaxChars": 300 + f.ticks})
}

func (f *forward) beating() (s protocol.SessionRow, ok bool) {
	var list protocol.SessionsList
	f.p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	for _, s := range list.Sessions {
		if s.Key == "agent:main:heartbeat" {
			return s, true
		}
	}
	return s, false
}

// While HEARTBEAT.md asks for nothing no model is asked; then one is, in a
// session of its own, and what it found stands in the main conversation. That
// nothing was found leaves no trace.
func TestHeartbeats(t *testing.T) {
	f := putForward(gatewaytest.New(t, "chat/echo"))
	dir := gatewaytest.Workspace(t, f.p)
	f.p.Say("main", "a", "hello")
	f.set(map[string]any{"every": "30m"})
	f.tick() // the starter asks for nothing
	gatewaytest.WaitFor(t, "the end of the first look", func() bool {
		var last *protocol.HeartbeatEvent
		f.p.Do(protocol.MethodLastHeartbeat, nil, &last)
		return last != nil && last.Status == "skipped" && last.Reason == "empty-heartbeat-file"
	})
	if n := f.Model.Snapshot().Requests; n != 1 {
		t.Errorf("%d requests were made", n)
	}
	if err := os.WriteFile(filepath.Join(dir, "HEARTBEAT.md"), []byte("- look at the sky\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.tick()
	gatewaytest.WaitFor(t, "what the heartbeat found", func() bool {
		msgs := f.p.History("main").Messages
		return strings.HasPrefix(msgs[len(msgs)-1].Text(), "[Heartbeat]\n\necho: Read HEARTBEAT.md")
	})
	if n := f.Model.Snapshot().Requests; n != 2 {
		t.Errorf("%d requests were made", n)
	}
	sent := f.Model.Snapshot().System
	for _, want := range []string{"## Heartbeats", "look at the sky", `<file name="HEARTBEAT.md">`} {
		if !strings.Contains(sent, want) {
			t.Errorf("%q was not sent", want)
		}
	}
	for _, not := range []string{"- message:", "- gateway:"} { // nobody's own words led there
		if strings.Contains(sent, not) {
			t.Errorf("a heartbeat has %s", not)
		}
	}
	before := len(f.p.History("main").Messages)
	f.set(map[string]any{"prompt": "All quiet? " + heartbeat.Token})
	f.tick()
	gatewaytest.WaitFor(t, "the end of a quiet heartbeat", func() bool {
		_, there := f.beating()
		return f.Model.Calls("All quiet? "+heartbeat.Token) == 1 && !there
	})
	if got := len(f.p.History("main").Messages); got != before {
		t.Errorf("a quiet heartbeat told something")
	}
}

// HEARTBEAT.md and its section are in the prompt only while heartbeats are on
// and the settings do not leave them out.
func TestHeartbeatsInThePrompt(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	gatewaytest.Workspace(t, p)
	p.Patch(map[string]any{"agents": map[string]any{
		"list": []any{map[string]any{"id": "main"}, map[string]any{"id": "work", "workspace": t.TempDir()}}}})
	for i, c := range []struct {
		key  string
		set  map[string]any
		want bool
	}{
		{"main", map[string]any{}, false},
		{"main", map[string]any{"every": "30m"}, true},
		{"agent:work:main", map[string]any{"every": "30m"}, false},
		{"main", map[string]any{"includeSystemPromptSection": false}, false},
		{"main", map[string]any{"every": "0m", "includeSystemPromptSection": true}, false},
	} {
		p.Patch(map[string]any{"agents": map[string]any{"defaults": map[string]any{"heartbeat": c.set}}})
		p.Say(c.key, string(rune('a'+i)), "hello")
		sent := r.Model.Snapshot().System
		if section, file := strings.Contains(sent, "## Heartbeats"), strings.Contains(sent, `<file name="HEARTBEAT.md">`); section != c.want ||
			file != c.want {
			t.Errorf("%d: %s with %v: section %v, file %v", i, c.key, c.set, section, file)
		}
	}
}

// With target "last" it goes where the main conversation was last held.
func TestHeartbeatOnTelegram(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	f := putForward(r)
	gatewaytest.Workspace(t, f.p)
	api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "hello", nil)
	gatewaytest.WaitFor(t, "an answer", func() bool { return len(gatewaytest.Texts(api, gatewaytest.Anna)) == 1 })
	f.set(map[string]any{"every": "30m", "prompt": "The plumber comes.", "target": "last"})
	f.tick()
	gatewaytest.WaitFor(t, "the heartbeat's words", func() bool {
		got := gatewaytest.Texts(api, gatewaytest.Anna)
		return len(got) == 2 && got[1] == "echo: The plumber comes."
	})
}
