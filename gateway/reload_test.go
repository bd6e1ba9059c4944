package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// TestFault_F_CFG_03_EveryKeyUnderLoad: settings of every part are changed while
// answers are written and messages wait, for good and back again: no message is
// lost, answered twice or answered out of turn.
func TestFault_F_CFG_03_EveryKeyUnderLoad(t *testing.T) {
	r := gatewaytest.New(t, "chat/stream-5-2")
	p := r.Connect()
	changes := []string{
		`{"gateway":{"controlUi":{"allowedOrigins":["http://127.0.0.1:9"]}}}`, `{"gateway":{"nodes":{"denyCommands":["x.y"]}}}`,
		`{"gateway":{"http":{"endpoints":{"chatCompletions":{"enabled":true}}}}}`, `{"gateway":{"port":18999}}`,
		`{"agents":{"defaults":{"timeoutSeconds":500}}}`, `{"agents":{"defaults":{"maxConcurrent":7}}}`,
		`{"agents":{"defaults":{"contextTokens":50000}}}`,
		`{"agents":{"defaults":{"userTimezone":"Europe/Vienna"}}}`, `{"agents":{"defaults":{"heartbeat":{"every":"2h"}}}}`,
		`{"agents":{"defaults":{"subagents":{"maxConcurrent":2}}}}`, `{"agents":{"list":[{"id":"main","default":true},{"id":"work"}]}}`,
		`{"models":{"providers":{"other":{"baseUrl":"http://127.0.0.1:9/v1","api":"openai-completions","apiKey":"sk-other"}}}}`,
		`{"session":{"reset":{"mode":"idle","idleMinutes":600}}}`, `{"session":{"resetTriggers":["/new","/fresh"]}}`,
		`{"session":{"dmScope":"per-peer"}}`,
		`{"messages":{"queue":{"mode":"followup","cap":90}}}`, `{"messages":{"responsePrefix":""}}`,
		`{"messages":{"groupChat":{"historyLimit":9}}}`,
		`{"commands":{"text":true}}`, `{"tools":{"profile":"minimal"}}`, `{"tools":{"exec":{"ask":"always"}}}`,
		`{"tools":{"web":{"fetch":{"enabled":false}}}}`,
		`{"channels":{"telegram":{"enabled":false}}}`, `{"skills":{"entries":{"none":{"enabled":false}}}}`,
		`{"mcp":{"serve":{"http":{"enabled":true}}}}`,
		`{"logging":{"level":"debug"}}`, `{"discovery":{"mdns":{"mode":"off"}}}`,
	}
	var config protocol.ConfigSnapshot
	p.Do(protocol.MethodConfigGet, nil, &config)
	before := config.Raw
	for i, change := range changes {
		id := fmt.Sprint("m", i)
		p.Send("main", id, "message "+id)
		if err := p.Call(t.Context(), protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: change}, nil); err != nil {
			t.Errorf("%s: %v", change, err)
		}
		p.Do(protocol.MethodConfigGet, nil, &config)
		if i%5 == 4 && before != nil { // and all back
			if err := p.Call(t.Context(), protocol.MethodConfigSet, protocol.ConfigSetParams{Raw: *before, BaseHash: config.Hash}, nil); err != nil {
				t.Errorf("back: %v", err)
			}
		}
	}
	for i := range changes {
		p.Ended(fmt.Sprint("m", i))
	}
	want := make([]string, 0, len(changes))
	for i := range changes {
		want = append(want, fmt.Sprintf("message m%d", i))
	}
	var got []string
	answers := 0
	for _, m := range p.History("main").Messages {
		switch {
		case m.Role == protocol.MessageUser:
			got = append(got, m.Text())
		case m.Role == protocol.MessageAssistant && m.StopReason == "stop":
			answers++
		}
	}
	if strings.Join(got, "|") != strings.Join(want, "|") || answers == 0 || answers > len(changes) {
		t.Errorf("%d answers to %q", answers, got)
	}
	for i := range changes {
		finals := 0
		for _, c := range p.ChatEvents(fmt.Sprint("m", i)) {
			if c.State == protocol.ChatFinal {
				finals++
			} else if c.State == protocol.ChatError || c.State == protocol.ChatAborted {
				t.Errorf("m%d: %s %s", i, c.State, c.ErrorMessage)
			}
		}
		if finals != 1 {
			t.Errorf("m%d has %d final answers", i, finals)
		}
	}
}
