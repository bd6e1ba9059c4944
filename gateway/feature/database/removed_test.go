package database_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/recovery"
)

// TestFault_F_DB_07_RestoredCopyIsTold: the copy of yesterday is put back; what was
// removed since stays removed, and the owner is told.
func TestFault_F_DB_07_RestoredCopyIsTold(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	key, id := gatewaytest.NodeKey(t)
	_ = r.Node(key, "device.info").Close()
	tok := p.Token("notebook", "mcp")
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{"mcp":{"serve":{"http":{"enabled":true}}}}`}, nil)
	r.Shutdown()
	if err := copyFile(r.Dir.Store(), r.Dir.LastGood()); err != nil {
		t.Fatal(err)
	}
	r.Start()
	p = r.Connect()
	p.Do(protocol.MethodPairRemove, protocol.PairRemoveParams{DeviceID: id}, nil)
	p.Do(protocol.MethodTokensRevoke, protocol.TokenRevokeParams{Token: tok.Token.ID}, nil)
	r.Shutdown()
	if _, err := recovery.Restore(r.Dir, time.Unix(1_800_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	r.Start()
	if _, err := r.DialNode(key, "device.info"); err == nil {
		t.Error("a removed device came back with the copy")
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.Gateway.URL()+"/mcp",
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Authorization", "Bearer "+tok.Secret)
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a revoked token: %d", res.StatusCode)
	}
	var h protocol.Health
	r.Connect().Do(protocol.MethodHealth, struct{}{}, &h)
	for _, problem := range h.Hearth.Problems {
		if problem.Code == "OLDER_COPY" && strings.Contains(problem.Message, "devices: 1, tokens: 1, people: 0") {
			return
		}
	}
	t.Errorf("nobody is told: %+v", h.Hearth.Problems)
}
