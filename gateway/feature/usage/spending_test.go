package usage_test

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

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// priced starts a gateway whose scripted models cost a dollar for a thousand
// tokens, with an allowance.
func priced(t *testing.T, allowance map[string]any) *gatewaytest.Rig {
	t.Helper()
	r := gatewaytest.New(t, "chat/echo")
	r.Shutdown()
	path := filepath.Join(string(r.Dir), "hearth.json")
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
	r.Start()
	return r
}

// ask sends one message and waits for its end.
func ask(p *gatewaytest.Peer, id, text string) protocol.ChatEvent {
	p.T.Helper()
	p.Send("main", id, text)
	return p.Ended(id)
}

// Near the end of the allowance the free model answers and one notice says so.
func TestAllowance_sparing(t *testing.T) {
	// A turn of "echo" costs 16 tokens at most here, so 0.1 is some turns.
	r := priced(t, map[string]any{"daily": 0.1, "cheapModel": "llama/echo"})
	p := r.Connect()
	if end := ask(p, "first", "one"); end.State != protocol.ChatFinal || end.Message.Provider != "chat" {
		t.Fatalf("%+v", end)
	}
	cost, status := p.Spent()
	if cost.Totals.TotalCost == 0 || cost.Totals.TotalTokens == 0 || len(cost.Daily) != 1 || status.Hearth.Today != cost.Totals.TotalCost ||
		len(cost.Hearth.Groups) != 1 {
		t.Errorf("%+v, %+v", cost, status.Hearth)
	}
	var by protocol.UsageCost
	p.Do(protocol.MethodUsageCost, protocol.UsageCostParams{GroupBy: "model"}, &by)
	if g := by.Hearth.Groups; len(g) != 1 || len(g[0].Daily) != 1 || g[0].Daily[0].Date != cost.Daily[0].Date ||
		g[0].Daily[0].TotalCost != cost.Totals.TotalCost || g[0].Daily[0].TotalTokens != cost.Totals.TotalTokens {
		t.Errorf("the days of models are %+v", g)
	}
	var of protocol.SessionsUsage
	if p.Do(protocol.MethodSessionsUsage, nil, &of); of.Totals.TotalCost != cost.Totals.TotalCost ||
		of.Sessions[0].Usage.TotalCost != cost.Totals.TotalCost {
		t.Errorf("sessions.usage says %+v, usage.cost %+v", of, cost.Totals)
	}
	for i := 0; status.Hearth.Level == "free" && i < 50; i++ {
		ask(p, fmt.Sprint("more", i), "more")
		_, status = p.Spent()
	}
	before, _ := p.Spent()
	for i := range 2 {
		if end := ask(p, fmt.Sprint("sparing", i), "sparing"); end.State != protocol.ChatFinal || end.Message.Provider != "llama" {
			t.Errorf("near the end of the allowance: %+v", end)
		}
	}
	if cost, _ = p.Spent(); cost.Totals.TotalCost != before.Totals.TotalCost || cost.Totals.TotalTokens == before.Totals.TotalTokens {
		t.Errorf("the free model costs: %v, then %v", before.Totals, cost.Totals)
	}
	notices := 0
	for _, m := range p.History("main").Messages {
		if m.Role == protocol.MessageSystem && strings.Contains(m.Text(), "llama/echo answers instead of chat/echo") {
			notices++
		}
	}
	if notices != 1 {
		t.Errorf("%d notices, want one", notices)
	}
}

func notices(p *gatewaytest.Peer, part string) (n int) {
	for _, m := range p.History("main").Messages {
		if m.Role == protocol.MessageSystem && strings.Contains(m.Text(), part) {
			n++
		}
	}
	return n
}

func choose(p *gatewaytest.Peer, name string) {
	p.T.Helper()
	p.Do(protocol.MethodSessionsPatch, map[string]any{"key": "main", "model": name}, nil)
}

func allow(p *gatewaytest.Peer, params protocol.UsageAllowParams) (st protocol.UsageStatus) {
	p.T.Helper()
	p.Do(protocol.MethodUsageAllow, params, &st)
	return st
}

func asked(r *gatewaytest.Rig, what string, want int) {
	r.T.Helper()
	if n := r.Model.Snapshot().Requests; n != want {
		r.T.Errorf("%s: %d calls, want %d", what, n, want)
	}
}

// broke is a session whose allowance one call uses up, with a run that waits in
// its middle.
func broke(t *testing.T, change map[string]any) (*gatewaytest.Rig, *gatewaytest.Peer) {
	t.Helper()
	allowance := map[string]any{"daily": 0.001} // less than one call
	maps.Copy(allowance, change)
	r := priced(t, allowance)
	p := r.Connect()
	p.Do(protocol.MethodSessionsCreate, map[string]any{"key": "main"}, nil)
	p.Do(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: "main"}, nil)
	choose(p, "chat/tool-session_status")
	p.Send("main", "go", "go")
	p.Told("used up")
	asked(r, "the one that used it up", 1)
	return r, p
}

// F-PROV-24: the run waits before the next call, what was done stays, and one
// notice says what to do. A-DOS-09: no more is spent than one call too many.
func TestFault_F_PROV_24_AllowanceUsedUpMidRun(t *testing.T) {
	r, p := broke(t, nil)
	if !slices.ContainsFunc(p.History("main").Messages, func(m protocol.Message) bool { return m.Role == protocol.MessageToolResult }) {
		t.Error("what was done before is not shown")
	}
	if st := allow(p, protocol.UsageAllowParams{Once: true}); st.Hearth.Level != "used" || !strings.Contains(st.Hearth.Message, "used up") {
		t.Errorf("%+v", st.Hearth)
	}
	if end := p.Ended("go"); end.State != protocol.ChatFinal || !strings.Contains(end.Message.Text(), "The tool said") {
		t.Errorf("after one pass: %+v", end)
	}
	asked(r, "the same run goes on", 2)

	choose(p, "chat/echo")
	p.Send("main", "next", "next")
	var h protocol.Health
	for range 500 { // until the message waits
		if p.Do(protocol.MethodHealth, nil, &h); slices.ContainsFunc(h.Hearth.Problems, isAllowance) {
			break
		}
	}
	if !slices.ContainsFunc(h.Hearth.Problems, isAllowance) {
		t.Errorf("nothing says that a message waits: %+v", h.Hearth.Problems)
	}
	last := p.History("main").Messages
	if m := last[len(last)-1]; m.Hearth == nil || m.Hearth.State != protocol.ReceiptAccepted {
		t.Errorf("the message that waits: %+v", m.Hearth)
	}
	asked(r, "while it waits", 2)
	if n := notices(p, "used up"); n != 1 {
		t.Errorf("%d notices, want one a day", n)
	}
	daily := 5.0
	if st := allow(p, protocol.UsageAllowParams{Daily: &daily}); st.Hearth.Level != "free" || st.Hearth.Daily != 5 {
		t.Errorf("%+v", st.Hearth)
	}
	if end := p.Ended("next"); end.State != protocol.ChatFinal {
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
	p := r.ConnectAs(protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeApprovals)
	for i, words := range []string{"once", "daily 500", "monthly 500"} {
		if end := p.Say("main", fmt.Sprint("allow", i), "/usage allow "+words); !strings.Contains(end.Message.Text(), "has no right") {
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
		if end := p.Say("main", "cmd", "/usage"); !strings.Contains(end.Message.Text(), "used up") || !strings.Contains(end.Message.Text(),
			"USD") {
			t.Errorf("/usage says %q", end.Message.Text())
		}
		if end := p.Say("main", "bad", "/usage allow much"); !strings.Contains(end.Message.Text(), "allow once") {
			t.Errorf("%q", end.Message.Text())
		}
		p.Say("main", "once", "/usage allow once")
		if end := p.Ended("go"); end.State != protocol.ChatFinal {
			t.Errorf("%+v", end)
		}
	})
	t.Run("free model", func(t *testing.T) {
		r, p := broke(t, nil)
		p.Send("main", "next", "next")
		p.Do(protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: "main", RunID: "go"}, nil)
		if end := p.Ended("go"); end.State != protocol.ChatAborted {
			t.Errorf("taken back: %+v", end)
		}
		choose(p, "llama/echo")
		if end := p.Ended("next"); end.State != protocol.ChatFinal || end.Message.Provider != "llama" {
			t.Errorf("%+v", end)
		}
		asked(r, "the free one", 2)
	})
	t.Run("new day", func(t *testing.T) {
		r, p := broke(t, nil)
		p.Do(protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: "main", RunID: "go"}, nil)
		p.Ended("go")
		choose(p, "chat/echo")
		p.Send("main", "next", "next")
		r.Shutdown()
		r.Start()
		r.Connect()
		asked(r, "after a restart", 1)
		r.Shutdown()
		r.Now = func() time.Time { return time.Now().Add(24 * time.Hour) }
		r.Start()
		p = r.Connect()
		for range 1000 {
			if h := p.History("main"); len(h.Messages) > 0 && h.Messages[len(h.Messages)-1].Text() == "echo: next" {
				return
			}
		}
		t.Errorf("not answered on the next day: %+v", p.History("main").Messages)
	})
}

// A run that began with a free model, or fell back to one that costs, is looked
// at before every call: its first model says nothing of the next.
func TestSec_A_DOS_09_SwitchedToAModelThatCosts(t *testing.T) {
	r, p := broke(t, nil)
	p.Do(protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: "main", RunID: "go"}, nil)
	p.Ended("go")
	choose(p, "llama/wait-2500-tool-session_status")
	p.Send("main", "free", "free")
	gatewaytest.WaitFor(t, "first call", func() bool { return r.Model.Snapshot().Requests > 1 })
	choose(p, "chat/echo")
	p.Until("second call", func(ev protocol.Event) bool {
		var m protocol.SessionMessage
		return ev.Event == protocol.EventSessionMessage && json.Unmarshal(ev.Payload, &m) == nil &&
			m.Message.Role == protocol.MessageToolResult && m.Message.Meta.RunID == "free"
	})
	var h protocol.Health
	for range 500 {
		if p.Do(protocol.MethodHealth, nil, &h); slices.ContainsFunc(h.Hearth.Problems, isAllowance) {
			break
		}
	}
	asked(r, "the dear one is not asked", 2)
	if !slices.ContainsFunc(h.Hearth.Problems, isAllowance) {
		t.Error("the run does not wait")
	}
	choose(p, "llama/echo")
	if end := p.Ended("free"); end.State != protocol.ChatFinal || end.Message.Provider != "llama" {
		t.Errorf("a choice during the wait: %+v", end)
	}
	asked(r, "the free one", 3)
}

// Waiting for a person is not the run's work: its own time stands still.
func TestAllowance_timeStandsStill(t *testing.T) {
	r := priced(t, map[string]any{"daily": 0.001})
	p := r.Connect()
	p.Do(protocol.MethodSessionsCreate, map[string]any{"key": "main"}, nil)
	p.Do(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: "main"}, nil)
	choose(p, "chat/tool-session_status")
	p.Do(protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "main", Message: "go", IdempotencyKey: "go", TimeoutMs: 4000}, nil)
	p.Told("used up")
	<-time.After(4500 * time.Millisecond)
	allow(p, protocol.UsageAllowParams{Once: true})
	if end := p.Ended("go"); end.State != protocol.ChatFinal {
		t.Errorf("%+v", end)
	}
}

// Idle costs nothing: without a person, a schedule or an event no model is
// asked, however much time passes.
func TestIdleCostsNothing(t *testing.T) {
	var passed atomic.Int64
	r := gatewaytest.New(t, "chat/echo")
	r.Shutdown()
	r.Now = func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	r.Start()
	p := r.Connect()
	for range 48 { // a day in half hours, each with what a client that only looks does
		passed.Add(int64(30 * time.Minute))
		p.Do(protocol.MethodHealth, nil, nil)
		p.Do(protocol.MethodModelsList, nil, nil)
		p.Do(protocol.MethodModelsAuthStatus, nil, nil)
		p.Do(protocol.MethodUsageStatus, nil, nil)
	}
	if n := r.Model.Snapshot().Requests; n != 0 {
		t.Errorf("%d model calls on an idle day", n)
	}
}

// A-SEC-07: a key of the config is not sent to another host than the one it was
// given for, until the person says so.
func TestSec_A_SEC_07_ChangedAddressNeedsConsent(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	if end := ask(p, "before", "before"); end.State != protocol.ChatFinal {
		t.Fatalf("%+v", end)
	}
	elsewhere := "http://elsewhere.invalid:9/v1"
	p.Do(protocol.MethodConfigPatch, map[string]any{"raw": `{models:{providers:{chat:{baseUrl:"` + elsewhere + `"}}}}`}, nil)
	end := ask(p, "after", "after")
	if end.State != protocol.ChatError || !strings.Contains(end.ErrorMessage, "was not sent") || !strings.Contains(end.ErrorMessage,
		"hearth models auth allow chat:default") {
		t.Errorf("%+v", end)
	}
	p.Do(protocol.MethodModelsAuthAllow, protocol.ModelsAuthAllowParams{ProfileID: "chat:default", Host: elsewhere}, nil)
	var st protocol.ModelsAuthStatus
	p.Do(protocol.MethodModelsAuthStatus, nil, &st)
	for _, x := range st.Providers {
		if x.Provider == "chat" && !slices.Contains(x.Profiles[0].Hosts, "http://elsewhere.invalid:9") {
			t.Errorf("after consent: %+v", x.Profiles[0])
		}
	}
}

// The accounts are listed without a secret.
func TestModelsAuthStatus(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	var raw json.RawMessage
	p.Do(protocol.MethodModelsAuthStatus, nil, &raw)
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

// What nobody was asked is no call: a service that Hearth does not know was not used.
func TestNobodyWasAsked(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Patch(map[string]any{"agents": map[string]any{"defaults": map[string]any{"model": map[string]any{
		"primary": "nobody/gpt", "fallbacks": []string{"chat/echo"}}}}})
	if end := p.Say("main", "a", "hello"); end.State != protocol.ChatFinal {
		t.Fatalf("%+v", end)
	}
	var cost protocol.UsageCost
	p.Do(protocol.MethodUsageCost, protocol.UsageCostParams{GroupBy: "model"}, &cost)
	if g := cost.Hearth.Groups; len(g) != 1 || g[0].Name != "chat/echo" || g[0].Calls != 1 {
		t.Errorf("%+v", g)
	}
}
