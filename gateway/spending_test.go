package gateway_test

import (
	"encoding/json"
	"fmt"
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
	if cost.Totals.TotalCost == 0 || cost.Totals.TotalTokens == 0 || len(cost.Daily) != 1 || status.Hearth.Today != cost.Totals.TotalCost || len(cost.Hearth.Groups) != 1 {
		t.Errorf("%+v, %+v", cost, status.Hearth)
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

// F-PROV-24: the run stops before the next call, what was done stays, and the
// message says what to do. A-DOS-09: no more is spent than one call too many.
func TestFault_F_PROV_24_AllowanceUsedUpMidRun(t *testing.T) {
	r := priced(t, map[string]any{"daily": 0.001}) // less than one call
	p := r.connect()
	choose := func(name string) {
		p.call(protocol.MethodSessionsPatch, map[string]any{"key": "main", "model": name}, nil)
	}
	p.call(protocol.MethodSessionsCreate, map[string]any{"key": "main"}, nil)
	choose("chat/tool-session_status")
	end := p.ask("go", "go")
	if end.State != protocol.ChatError || !strings.Contains(end.ErrorMessage, "used up") || !strings.Contains(end.ErrorMessage, "hearth usage allow") {
		t.Fatalf("%+v", end)
	}
	asked := func(what string, want int) {
		if n := r.model.Snapshot().Requests; n != want {
			t.Errorf("%s: %d calls, want %d", what, n, want)
		}
	}
	asked("the one that used it up", 1)
	if !slices.ContainsFunc(p.history("main").Messages, func(m protocol.Message) bool { return m.Role == protocol.MessageToolResult }) {
		t.Error("what was done before is not shown")
	}
	choose("chat/echo")
	if end := p.ask("again", "again"); end.State != protocol.ChatError {
		t.Errorf("%+v", end)
	}
	asked("beyond the allowance", 1)
	var st protocol.UsageStatus
	p.call(protocol.MethodUsageAllow, protocol.UsageAllowParams{Once: true}, &st)
	if st.Hearth.Level != "used" || st.Hearth.Message == "" {
		t.Errorf("%+v", st.Hearth)
	}
	if end := p.ask("once", "once"); end.State != protocol.ChatFinal {
		t.Errorf("%+v", end)
	}
	if end := p.ask("twice", "twice"); end.State != protocol.ChatError {
		t.Errorf("%+v", end)
	}
	daily := 5.0
	p.call(protocol.MethodUsageAllow, protocol.UsageAllowParams{Daily: &daily}, &st)
	if st.Hearth.Level != "free" || st.Hearth.Daily != 5 {
		t.Errorf("%+v", st.Hearth)
	}
	if end := p.ask("raised", "raised"); end.State != protocol.ChatFinal {
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
	if end.State != protocol.ChatError || !strings.Contains(end.ErrorMessage, "was not sent") || !strings.Contains(end.ErrorMessage, "hearth models auth allow chat:default") {
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
	if i < 0 || st.Providers[i].Status != "static" || st.Providers[i].APIKey == nil || st.Providers[i].APIKey.Source != "config" || len(st.Providers[i].Profiles) != 1 {
		t.Errorf("%s", raw)
	}
	if strings.Contains(string(raw), "sk-test") {
		t.Error("the answer holds a key")
	}
}
