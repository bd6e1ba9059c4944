package models_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func tryModel(p *gatewaytest.Peer, in protocol.ModelsTestParams) (res protocol.ModelsTestResult) {
	p.T.Helper()
	p.Do(protocol.MethodModelsTest, in, &res)
	return res
}

func listed(p *gatewaytest.Peer, ref string) (m protocol.ModelInfo) {
	p.T.Helper()
	var l protocol.ModelsList
	p.Do(protocol.MethodModelsList, protocol.ModelsListParams{View: "all"}, &l)
	for _, m := range l.Models {
		if m.Provider+"/"+m.ID == ref {
			return m
		}
	}
	p.T.Fatalf("%s is not listed", ref)
	return m
}

// A model that did not call a tool in a test is given none in conversations,
// also after a restart, until a test says otherwise.
func TestModelWithoutToolsGetsNone(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	if p.Say("main", "a", "before"); !r.Model.Snapshot().Tools {
		t.Fatal("the model was given no tools before the test")
	}
	res := tryModel(p, protocol.ModelsTestParams{})
	if !res.OK || res.Verified == nil || res.Verified.Tools != "fail" || !strings.HasSuffix(res.Line, "· no tools") {
		t.Fatalf("%+v", res)
	}
	if p.Say("main", "b", "after"); r.Model.Snapshot().Tools {
		t.Error("the model was given tools")
	}
	if m := listed(p, "chat/echo"); !m.Hearth.NoTools || m.Hearth.Verified == nil {
		t.Errorf("%+v", m.Hearth)
	}
	r.Restart()
	p = r.Connect()
	if p.Say("main", "c", "later"); r.Model.Snapshot().Tools {
		t.Error("forgotten in a restart")
	}
	// The next test offers tools again.
	if tryModel(p, protocol.ModelsTestParams{Model: "chat/echo"}); !r.Model.Snapshot().Tools {
		t.Error("the test offered no tools")
	}
}

// The allowance holds for tests too, and what they use is booked.
func TestModelTestKeepsToTheAllowance(t *testing.T) {
	r := gatewaytest.New(t, "chat/tool-remember")
	p := r.Connect()
	patch := func(v any) {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: string(raw)}, nil)
	}
	patch(map[string]any{
		"models": map[string]any{"pricing": map[string]any{"chat/tool-remember": map[string]any{"input": 1000, "output": 1000}}},
		"hearth": map[string]any{"allowance": map[string]any{"daily": 0.001}},
	})
	if res := tryModel(p, protocol.ModelsTestParams{Context: true}); !res.OK {
		t.Fatalf("%+v", res)
	}
	var cost protocol.UsageCost
	p.Do(protocol.MethodUsageCost, protocol.UsageCostParams{}, &cost)
	if len(cost.Hearth.Groups) != 1 || cost.Hearth.Groups[0].Name != "chat/tool-remember" || cost.Hearth.Groups[0].Calls == 0 {
		t.Errorf("%+v", cost.Hearth)
	}
	before := r.Model.Snapshot().Requests
	res := tryModel(p, protocol.ModelsTestParams{})
	if res.OK || !strings.Contains(res.Error, "allowance") || r.Model.Snapshot().Requests != before {
		t.Errorf("%+v, %d requests more", res, r.Model.Snapshot().Requests-before)
	}
}

// Where everything is paused a test says so at once.
func TestModelTestWhilePaused(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Do(protocol.MethodPauseSet, protocol.PauseSetParams{Level: "everything"}, nil)
	if res := tryModel(p, protocol.ModelsTestParams{}); res.OK || !strings.Contains(strings.ToLower(res.Error), "pause") {
		t.Errorf("%+v", res)
	}
}

// The window that a server really keeps is found, told, and used.
func TestModelWindowIsTried(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{
		Raw: `{"models":{"providers":{"chat":{"models":[{"id":"window-8300","contextWindow":32768},{"id":"echo"}]}}}}`}, nil)
	res := tryModel(p, protocol.ModelsTestParams{Model: "chat/window-8300", Context: true})
	if !res.OK || res.Verified.ContextWindow != 8192 || !res.Verified.Less || res.Claimed != 32768 {
		t.Errorf("%+v %+v", res, res.Verified)
	}
	if m := listed(p, "chat/window-8300"); m.ContextWindow != 8192 {
		t.Errorf("it is listed with %d", m.ContextWindow)
	}
}
