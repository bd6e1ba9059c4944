package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/rescue"
)

// TestFault_F_DB_07_RestoredCopyIsTold: the copy of yesterday is put back; what was
// removed since stays removed, and the owner is told.
func TestFault_F_DB_07_RestoredCopyIsTold(t *testing.T) {
	r := newRig(t, "chat/echo")
	p := r.connect()
	key, id := nodeKey(t)
	_ = r.node(key, "device.info").Close()
	tok := p.token("notebook", "mcp")
	p.call(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{"mcp":{"serve":{"http":{"enabled":true}}}}`}, nil)
	r.shutdown()
	if err := copyFile(r.dir.Store(), r.dir.LastGood()); err != nil {
		t.Fatal(err)
	}
	r.start()
	p = r.connect()
	p.call(protocol.MethodPairRemove, protocol.PairRemoveParams{DeviceID: id}, nil)
	p.call(protocol.MethodTokensRevoke, protocol.TokenRevokeParams{Token: tok.Token.ID}, nil)
	r.shutdown()
	if _, err := rescue.Restore(r.dir, time.Unix(1_800_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	r.start()
	if _, err := r.dialNode(key, "device.info"); err == nil {
		t.Error("a removed device came back with the copy")
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.gw.URL()+"/mcp",
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
	r.connect().call(protocol.MethodHealth, struct{}{}, &h)
	for _, problem := range h.Hearth.Problems {
		if problem.Code == "OLDER_COPY" && strings.Contains(problem.Message, "devices: 1, tokens: 1, people: 0") {
			return
		}
	}
	t.Errorf("nobody is told: %+v", h.Hearth.Problems)
}
