package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func (p *peer) tryModel(in protocol.ModelsTestParams) (res protocol.ModelsTestResult) {
	p.t.Helper()
	p.call(protocol.MethodModelsTest, in, &res)
	return res
}

func (p *peer) listed(ref string) (m protocol.ModelInfo) {
	p.t.Helper()
	var l protocol.ModelsList
	p.call(protocol.MethodModelsList, protocol.ModelsListParams{View: "all"}, &l)
	for _, m := range l.Models {
		if m.Provider+"/"+m.ID == ref {
			return m
		}
	}
	p.t.Fatalf("%s is not listed", ref)
	return m
}

// A model that did not call a tool in a test is given none in conversations,
// also after a restart, until a test says otherwise.
func TestModelWithoutToolsGetsNone(t *testing.T) {
	r := newRig(t, "chat/echo")
	p := r.connect()
	if p.say("main", "a", "before"); !r.model.Snapshot().Tools {
		t.Fatal("the model was given no tools before the test")
	}
	res := p.tryModel(protocol.ModelsTestParams{})
	if !res.OK || res.Verified == nil || res.Verified.Tools != "fail" || !strings.HasSuffix(res.Line, "· no tools") {
		t.Fatalf("%+v", res)
	}
	if p.say("main", "b", "after"); r.model.Snapshot().Tools {
		t.Error("the model was given tools")
	}
	if m := p.listed("chat/echo"); !m.Hearth.NoTools || m.Hearth.Verified == nil {
		t.Errorf("%+v", m.Hearth)
	}
	r.restart()
	p = r.connect()
	if p.say("main", "c", "later"); r.model.Snapshot().Tools {
		t.Error("forgotten in a restart")
	}
	// The next test offers tools again.
	if p.tryModel(protocol.ModelsTestParams{Model: "chat/echo"}); !r.model.Snapshot().Tools {
		t.Error("the test offered no tools")
	}
}

// The allowance holds for tests too, and what they use is booked.
func TestModelTestKeepsToTheAllowance(t *testing.T) {
	r := newRig(t, "chat/tool-remember")
	p := r.connect()
	patch := func(v any) {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		p.call(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: string(raw)}, nil)
	}
	patch(map[string]any{
		"models": map[string]any{"pricing": map[string]any{"chat/tool-remember": map[string]any{"input": 1000, "output": 1000}}},
		"hearth": map[string]any{"allowance": map[string]any{"daily": 0.001}},
	})
	if res := p.tryModel(protocol.ModelsTestParams{Context: true}); !res.OK {
		t.Fatalf("%+v", res)
	}
	var cost protocol.UsageCost
	p.call(protocol.MethodUsageCost, protocol.UsageCostParams{}, &cost)
	if len(cost.Hearth.Groups) != 1 || cost.Hearth.Groups[0].Name != "chat/tool-remember" || cost.Hearth.Groups[0].Calls == 0 {
		t.Errorf("%+v", cost.Hearth)
	}
	before := r.model.Snapshot().Requests
	res := p.tryModel(protocol.ModelsTestParams{})
	if res.OK || !strings.Contains(res.Error, "allowance") || r.model.Snapshot().Requests != before {
		t.Errorf("%+v, %d requests more", res, r.model.Snapshot().Requests-before)
	}
}

// Where everything is paused a test says so at once.
func TestModelTestWhilePaused(t *testing.T) {
	r := newRig(t, "chat/echo")
	p := r.connect()
	p.call(protocol.MethodPauseSet, protocol.PauseSetParams{Level: "everything"}, nil)
	if res := p.tryModel(protocol.ModelsTestParams{}); res.OK || !strings.Contains(strings.ToLower(res.Error), "pause") {
		t.Errorf("%+v", res)
	}
}

// The window that a server really keeps is found, told, and used.
func TestModelWindowIsTried(t *testing.T) {
	r := newRig(t, "chat/echo")
	p := r.connect()
	p.call(protocol.MethodConfigPatch, protocol.ConfigSetParams{
		Raw: `{"models":{"providers":{"chat":{"models":[{"id":"window-8300","contextWindow":32768},{"id":"echo"}]}}}}`}, nil)
	res := p.tryModel(protocol.ModelsTestParams{Model: "chat/window-8300", Context: true})
	if !res.OK || res.Verified.ContextWindow != 8192 || !res.Verified.Less || res.Claimed != 32768 {
		t.Errorf("%+v %+v", res, res.Verified)
	}
	if m := p.listed("chat/window-8300"); m.ContextWindow != 8192 {
		t.Errorf("it is listed with %d", m.ContextWindow)
	}
}
