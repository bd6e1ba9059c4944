package memory_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// What vectors cost stands in the ledger, and beyond the allowance none are asked
// for: words are compared then.
func TestMemoryVectorsAreBookedAndAllowed(t *testing.T) {
	var calls, texts atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		calls.Add(1)
		texts.Add(int64(len(req.Input)))
		var b strings.Builder
		for i := range req.Input {
			fmt.Fprintf(&b, `{"index":%d,"embedding":[1,0,0,0]},`, i)
		}
		_, _ = fmt.Fprintf(w, `{"data":[%s],"usage":{"prompt_tokens":%d,"total_tokens":1}}`, strings.TrimSuffix(b.String(), ","),
			100*len(req.Input))
	}))
	t.Cleanup(srv.Close)
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	work := t.TempDir()
	patch := func(v map[string]any) {
		t.Helper()
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var cfg protocol.ConfigSnapshot
		p.Do(protocol.MethodConfigGet, nil, &cfg)
		p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: string(raw), BaseHash: cfg.Hash}, nil)
	}
	price := map[string]any{"input": 1000, "output": 0, "cacheRead": 0, "cacheWrite": 0} // a dollar for 1000 tokens
	patch(map[string]any{
		"agents": map[string]any{"defaults": map[string]any{"workspace": work, "memorySearch": map[string]any{"provider": "chat", "model": "emb",
			"remote": map[string]any{"baseUrl": srv.URL}}}},
		"models": map[string]any{"pricing": map[string]any{"chat/emb": price}},
		"hearth": map[string]any{"allowance": map[string]any{"daily": 0.15}},
	})
	p.Do(protocol.MethodMemorySet, protocol.MemorySetParams{Path: "memory/a.md", Text: "the fence is green\n"}, nil)
	p.Do(protocol.MethodMemoryIndex, protocol.MemoryIndexParams{}, nil)
	var st protocol.MemoryStatus
	gatewaytest.WaitFor(t, "a vector", func() bool {
		p.Do(protocol.MethodMemoryStatus, nil, &st)
		return st.Vectors == 1
	})
	search := func() (found protocol.MemoryFound) {
		t.Helper()
		p.Do(protocol.MethodMemorySearch, protocol.MemorySearchParams{Query: "fence"}, &found)
		if len(found.Results) != 1 {
			t.Fatalf("%+v", found)
		}
		return found
	}
	if found := search(); found.SearchMode != "hybrid" || found.Partial != "" {
		t.Errorf("%+v", found)
	}
	cost, _ := p.Spent()
	if got := cost.Totals.TotalCost; got < 0.19 || got > 0.21 || texts.Load() != 2 {
		t.Errorf("%d texts of 100 tokens cost %v", texts.Load(), got)
	}
	before := calls.Load()
	if found := search(); found.SearchMode != "fts-only" || !strings.Contains(found.Partial, "the allowance is used up") {
		t.Errorf("beyond the allowance: %+v", found)
	}
	if calls.Load() != before {
		t.Error("the service was asked beyond the allowance")
	}
	patch(map[string]any{"hearth": map[string]any{"allowance": map[string]any{"daily": 5}}})
	if found := search(); found.SearchMode != "hybrid" {
		t.Errorf("with a larger one: %+v", found)
	}
}
