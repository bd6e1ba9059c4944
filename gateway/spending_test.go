package gateway_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// priced starts a gateway whose scripted models cost a dollar for a thousand
// tokens, with an allowance.
func priced(t *testing.T, allowance map[string]any) *rig {
	t.Helper()
	r := newRig(t, "chat/echo")
	r.shutdown()
	path := filepath.Join(string(r.dir), "hearth.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cfg map[string]any
	if err := json.Unmarshal(raw, &cfg); err != nil {
		t.Fatal(err)
	}
	price := map[string]any{"input": 1000, "output": 1000, "cacheRead": 1000, "cacheWrite": 1000}
	cfg["models"].(map[string]any)["pricing"] = map[string]any{"chat/echo": price, "chat/tool-session_status": price}
	cfg["hearth"] = map[string]any{"allowance": allowance}
	if raw, err = json.Marshal(cfg); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	r.start()
	return r
}

// ask sends one message and waits for its end.
func (p *peer) ask(id, text string) protocol.ChatEvent {
	p.t.Helper()
	p.send("main", id, text)
	return p.ended(id)
}

func (p *peer) spent() (cost protocol.UsageCost, status protocol.UsageStatus) {
	p.t.Helper()
	p.call(protocol.MethodUsageCost, protocol.UsageCostParams{Days: 1}, &cost)
	p.call(protocol.MethodUsageStatus, nil, &status)
	return cost, status
}

// Near the end of the allowance the free model answers and one notice says so.
func TestAllowance_sparing(t *testing.T) {
	// A turn of "echo" costs 16 tokens at most here, so 0.1 is some turns.
	r := priced(t, map[string]any{"daily": 0.1, "cheapModel": "llama/echo"})
	p := r.connect()
	if end := p.ask("first", "one"); end.State != protocol.ChatFinal || end.Message.Provider != "chat" {
		t.Fatalf("%+v", end)
	}
	cost, status := p.spent()
	if cost.Totals.TotalCost == 0 || cost.Totals.TotalTokens == 0 || len(cost.Daily) != 1 || status.Hearth.Today != cost.Totals.TotalCost ||
		len(cost.Hearth.Groups) != 1 {
		t.Errorf("%+v, %+v", cost, status.Hearth)
	}
	var of protocol.SessionsUsage
	if p.call(protocol.MethodSessionsUsage, nil, &of); of.Totals.TotalCost != cost.Totals.TotalCost ||
		of.Sessions[0].Usage.TotalCost != cost.Totals.TotalCost {
		t.Errorf("sessions.usage says %+v, usage.cost %+v", of, cost.Totals)
	}
	for i := 0; status.Hearth.Level == "free" && i < 50; i++ {
		p.ask(fmt.Sprint("more", i), "more")
		_, status = p.spent()
	}
	before, _ := p.spent()
	for i := range 2 {
		if end := p.ask(fmt.Sprint("sparing", i), "sparing"); end.State != protocol.ChatFinal || end.Message.Provider != "llama" {
			t.Errorf("near the end of the allowance: %+v", end)
		}
	}
	if cost, _ = p.spent(); cost.Totals.TotalCost != before.Totals.TotalCost || cost.Totals.TotalTokens == before.Totals.TotalTokens {
		t.Errorf("the free model costs: %v, then %v", before.Totals, cost.Totals)
	}
	notices := 0
	for _, m := range p.history("main").Messages {
		if m.Role == protocol.MessageSystem && strings.Contains(m.Text(), "llama/echo answers instead of chat/echo") {
			notices++
		}
	}
	if notices != 1 {
		t.Errorf("%d notices, want one", notices)
	}
}

// told waits for a notice of Hearth's own and returns it.
func (p *peer) told(part string) string {
	p.t.Helper()
	var m protocol.SessionMessage
	p.until("notice with "+part, func(ev protocol.Event) bool {
		m = protocol.SessionMessage{}
		return ev.Event == protocol.EventSessionMessage && json.Unmarshal(ev.Payload, &m) == nil && m.Message != nil &&
			m.Message.Role == protocol.MessageSystem && strings.Contains(m.Message.Text(), part)
	})
	return m.Message.Text()
}

func (p *peer) notices(part string) (n int) {
	for _, m := range p.history("main").Messages {
		if m.Role == protocol.MessageSystem && strings.Contains(m.Text(), part) {
			n++
		}
	}
	return n
}

func (p *peer) choose(name string) {
	p.t.Helper()
	p.call(protocol.MethodSessionsPatch, map[string]any{"key": "main", "model": name}, nil)
}

func (p *peer) allow(params protocol.UsageAllowParams) (st protocol.UsageStatus) {
	p.t.Helper()
	p.call(protocol.MethodUsageAllow, params, &st)
	return st
}

func (r *rig) asked(what string, want int) {
	r.t.Helper()
	if n := r.model.Snapshot().Requests; n != want {
		r.t.Errorf("%s: %d calls, want %d", what, n, want)
	}
}

// broke is a session whose allowance one call uses up, with a run that waits in
// its middle.
func broke(t *testing.T, change map[string]any) (*rig, *peer) {
	t.Helper()
	allowance := map[string]any{"daily": 0.001} // less than one call
	maps.Copy(allowance, change)
	r := priced(t, allowance)
	p := r.connect()
	p.call(protocol.MethodSessionsCreate, map[string]any{"key": "main"}, nil)
	p.call(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: "main"}, nil)
	p.choose("chat/tool-session_status")
	p.send("main", "go", "go")
	p.told("used up")
	r.asked("the one that used it up", 1)
	return r, p
}

// F-PROV-24: the run waits before the next call, what was done stays, and one
// notice says what to do. A-DOS-09: no more is spent than one call too many.
func TestFault_F_PROV_24_AllowanceUsedUpMidRun(t *testing.T) {
	r, p := broke(t, nil)
	if !slices.ContainsFunc(p.history("main").Messages, func(m protocol.Message) bool { return m.Role == protocol.MessageToolResult }) {
		t.Error("what was done before is not shown")
	}
	if st := p.allow(protocol.UsageAllowParams{Once: true}); st.Hearth.Level != "used" || !strings.Contains(st.Hearth.Message, "used up") {
		t.Errorf("%+v", st.Hearth)
	}
	if end := p.ended("go"); end.State != protocol.ChatFinal || !strings.Contains(end.Message.Text(), "The tool said") {
		t.Errorf("after one pass: %+v", end)
	}
	r.asked("the same run goes on", 2)

	p.choose("chat/echo")
	p.send("main", "next", "next")
	var h protocol.Health
	for range 500 { // until the message waits
		if p.call(protocol.MethodHealth, nil, &h); slices.ContainsFunc(h.Hearth.Problems, isAllowance) {
			break
		}
	}
	if !slices.ContainsFunc(h.Hearth.Problems, isAllowance) {
		t.Errorf("nothing says that a message waits: %+v", h.Hearth.Problems)
	}
	last := p.history("main").Messages
	if m := last[len(last)-1]; m.Hearth == nil || m.Hearth.State != protocol.ReceiptAccepted {
		t.Errorf("the message that waits: %+v", m.Hearth)
	}
	r.asked("while it waits", 2)
	if n := p.notices("used up"); n != 1 {
		t.Errorf("%d notices, want one a day", n)
	}
	daily := 5.0
	if st := p.allow(protocol.UsageAllowParams{Daily: &daily}); st.Hearth.Level != "free" || st.Hearth.Daily != 5 {
		t.Errorf("%+v", st.Hearth)
	}
	if end := p.ended("next"); end.State != protocol.ChatFinal {
		t.Errorf("raised: %+v", end)
	}
}

func isAllowance(p protocol.Problem) bool {
	return p.Code == "ALLOWANCE" && strings.Contains(p.Message, "/usage allow once")
}

// Money is spent only by those who may change settings: the command needs the
// right that its method needs, a yes to commands is less.
func TestSec_A_DOS_09_AllowingMoreNeedsTheMethodsRight(t *testing.T) {
	r, _ := broke(t, nil)
	p := r.connectAs(protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeApprovals)
	for i, words := range []string{"once", "daily 500", "monthly 500"} {
		if end := p.say("main", fmt.Sprint("allow", i), "/usage allow "+words); !strings.Contains(end.Message.Text(), "has no right") {
			t.Errorf("%s: %q", words, end.Message.Text())
		}
	}
	if err := p.Call(t.Context(), protocol.MethodUsageAllow, protocol.UsageAllowParams{Once: true}, nil); err == nil {
		t.Error("the method is open too")
	}
}

// What waits goes on when one answer is let through by a command, when a model
// that is free is chosen, and when a new day begins; it can be taken back; and
// it waits over a restart.
func TestAllowance_waiting(t *testing.T) {
	t.Run("command", func(t *testing.T) {
		_, p := broke(t, nil)
		if end := p.say("main", "cmd", "/usage"); !strings.Contains(end.Message.Text(), "used up") || !strings.Contains(end.Message.Text(),
			"USD") {
			t.Errorf("/usage says %q", end.Message.Text())
		}
		if end := p.say("main", "bad", "/usage allow much"); !strings.Contains(end.Message.Text(), "allow once") {
			t.Errorf("%q", end.Message.Text())
		}
		p.say("main", "once", "/usage allow once")
		if end := p.ended("go"); end.State != protocol.ChatFinal {
			t.Errorf("%+v", end)
		}
	})
	t.Run("free model", func(t *testing.T) {
		r, p := broke(t, nil)
		p.send("main", "next", "next")
		p.call(protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: "main", RunID: "go"}, nil)
		if end := p.ended("go"); end.State != protocol.ChatAborted {
			t.Errorf("taken back: %+v", end)
		}
		p.choose("llama/echo")
		if end := p.ended("next"); end.State != protocol.ChatFinal || end.Message.Provider != "llama" {
			t.Errorf("%+v", end)
		}
		r.asked("the free one", 2)
	})
	t.Run("new day", func(t *testing.T) {
		r, p := broke(t, nil)
		p.call(protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: "main", RunID: "go"}, nil)
		p.ended("go")
		p.choose("chat/echo")
		p.send("main", "next", "next")
		r.shutdown()
		r.start()
		r.connect()
		r.asked("after a restart", 1)
		r.shutdown()
		r.now = func() time.Time { return time.Now().Add(24 * time.Hour) }
		r.start()
		p = r.connect()
		for range 1000 {
			if h := p.history("main"); len(h.Messages) > 0 && h.Messages[len(h.Messages)-1].Text() == "echo: next" {
				return
			}
		}
		t.Errorf("not answered on the next day: %+v", p.history("main").Messages)
	})
}

// A run that began with a free model, or fell back to one that costs, is looked
// at before every call: its first model says nothing of the next.
func TestSec_A_DOS_09_SwitchedToAModelThatCosts(t *testing.T) {
	r, p := broke(t, nil)
	p.call(protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: "main", RunID: "go"}, nil)
	p.ended("go")
	p.choose("llama/wait-2500-tool-session_status")
	p.send("main", "free", "free")
	waitFor(t, "first call", func() bool { return r.model.Snapshot().Requests > 1 })
	p.choose("chat/echo")
	p.until("second call", func(ev protocol.Event) bool {
		var m protocol.SessionMessage
		return ev.Event == protocol.EventSessionMessage && json.Unmarshal(ev.Payload, &m) == nil &&
			m.Message.Role == protocol.MessageToolResult && m.Message.Meta.RunID == "free"
	})
	var h protocol.Health
	for range 500 {
		if p.call(protocol.MethodHealth, nil, &h); slices.ContainsFunc(h.Hearth.Problems, isAllowance) {
			break
		}
	}
	r.asked("the dear one is not asked", 2)
	if !slices.ContainsFunc(h.Hearth.Problems, isAllowance) {
		t.Error("the run does not wait")
	}
	p.choose("llama/echo")
	if end := p.ended("free"); end.State != protocol.ChatFinal || end.Message.Provider != "llama" {
		t.Errorf("a choice during the wait: %+v", end)
	}
	r.asked("the free one", 3)
}

// Waiting for a person is not the run's work: its own time stands still.
func TestAllowance_timeStandsStill(t *testing.T) {
	r := priced(t, map[string]any{"daily": 0.001})
	p := r.connect()
	p.call(protocol.MethodSessionsCreate, map[string]any{"key": "main"}, nil)
	p.call(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: "main"}, nil)
	p.choose("chat/tool-session_status")
	p.call(protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "main", Message: "go", IdempotencyKey: "go", TimeoutMs: 4000}, nil)
	p.told("used up")
	<-time.After(4500 * time.Millisecond)
	p.allow(protocol.UsageAllowParams{Once: true})
	if end := p.ended("go"); end.State != protocol.ChatFinal {
		t.Errorf("%+v", end)
	}
}

// Idle costs nothing: without a person, a schedule or an event no model is
// asked, however much time passes.
func TestIdleCostsNothing(t *testing.T) {
	var passed atomic.Int64
	r := newRig(t, "chat/echo")
	r.shutdown()
	r.now = func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	r.start()
	p := r.connect()
	for range 48 { // a day in half hours, each with what a client that only looks does
		passed.Add(int64(30 * time.Minute))
		p.call(protocol.MethodHealth, nil, nil)
		p.call(protocol.MethodModelsList, nil, nil)
		p.call(protocol.MethodModelsAuthStatus, nil, nil)
		p.call(protocol.MethodUsageStatus, nil, nil)
	}
	if n := r.model.Snapshot().Requests; n != 0 {
		t.Errorf("%d model calls on an idle day", n)
	}
}

// A-SEC-07: a key of the config is not sent to another host than the one it was
// given for, until the person says so.
func TestSec_A_SEC_07_ChangedAddressNeedsConsent(t *testing.T) {
	r := newRig(t, "chat/echo")
	p := r.connect()
	if end := p.ask("before", "before"); end.State != protocol.ChatFinal {
		t.Fatalf("%+v", end)
	}
	elsewhere := "http://elsewhere.invalid:9/v1"
	p.call(protocol.MethodConfigPatch, map[string]any{"raw": `{models:{providers:{chat:{baseUrl:"` + elsewhere + `"}}}}`}, nil)
	end := p.ask("after", "after")
	if end.State != protocol.ChatError || !strings.Contains(end.ErrorMessage, "was not sent") || !strings.Contains(end.ErrorMessage,
		"hearth models auth allow chat:default") {
		t.Errorf("%+v", end)
	}
	p.call(protocol.MethodModelsAuthAllow, protocol.ModelsAuthAllowParams{ProfileID: "chat:default", Host: elsewhere}, nil)
	var st protocol.ModelsAuthStatus
	p.call(protocol.MethodModelsAuthStatus, nil, &st)
	for _, x := range st.Providers {
		if x.Provider == "chat" && !slices.Contains(x.Profiles[0].Hosts, "http://elsewhere.invalid:9") {
			t.Errorf("after consent: %+v", x.Profiles[0])
		}
	}
}

// The accounts are listed without a secret.
func TestModelsAuthStatus(t *testing.T) {
	r := newRig(t, "chat/echo")
	p := r.connect()
	var raw json.RawMessage
	p.call(protocol.MethodModelsAuthStatus, nil, &raw)
	var st protocol.ModelsAuthStatus
	if err := json.Unmarshal(raw, &st); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(st.Providers, func(x protocol.ModelsAuthProvider) bool { return x.Provider == "chat" })
	if i < 0 || st.Providers[i].Status != "static" || st.Providers[i].APIKey == nil || st.Providers[i].APIKey.Source != "config" ||
		len(st.Providers[i].Profiles) != 1 {
		t.Errorf("%s", raw)
	}
	if strings.Contains(string(raw), "sk-test") {
		t.Error("the answer holds a key")
	}
}
