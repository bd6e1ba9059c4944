package tools_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestToolsMethods(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	var cat protocol.ToolsCatalog
	p.Do(protocol.MethodToolsCatalog, protocol.ToolsCatalogParams{}, &cat)
	if len(cat.Profiles) != 4 || len(cat.Groups) < 3 {
		t.Errorf("%+v", cat)
	}
	var cfg protocol.ConfigSnapshot
	p.Do(protocol.MethodConfigGet, nil, &cfg)
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{"tools":{"deny":["group:runtime"]}}`, BaseHash: cfg.Hash}, nil)
	var eff protocol.ToolsEffective
	p.Do(protocol.MethodToolsEffective, protocol.ToolsEffectiveParams{SessionKey: "main"}, &eff)
	denied := map[string]string{}
	for _, d := range eff.Denied {
		if strings.Contains(d.Why, "tools.deny") { // not for want of a device
			denied[d.ID] = d.Why
		}
	}
	if denied["exec"] == "" || len(denied) != 2 || eff.Profile != "full" {
		t.Errorf("%+v", denied)
	}
	var res protocol.ToolsInvokeResult
	p.Do(protocol.MethodToolsInvoke, protocol.ToolsInvokeParams{Name: "exec", Args: []byte(`{"command":"touch /tmp/pwned"}`)}, &res)
	if res.OK || res.Error == nil || !strings.Contains(res.Error.Message, "tools.deny") {
		t.Errorf("%+v", res)
	}
	p.Do(protocol.MethodToolsInvoke, protocol.ToolsInvokeParams{Name: "session_status"}, &res)
	if !res.OK || len(res.Output.Content) != 1 || strings.Contains(res.Output.Content[0].Text, "started:") { // nothing was said yet
		t.Errorf("%+v", res)
	}
	p.Do(protocol.MethodToolsInvoke, protocol.ToolsInvokeParams{Name: "nope"}, &res)
	if res.OK || res.Error.Code != "not_found" {
		t.Errorf("%+v", res)
	}
	var log protocol.AuditList
	p.Do(protocol.MethodAuditList, protocol.AuditListParams{Kind: "exec"}, &log)
	if len(log.Entries) != 1 || log.Entries[0].What != "was not allowed exec" {
		t.Errorf("%+v", log.Entries)
	}
}
