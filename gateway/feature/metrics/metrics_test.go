package metrics_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// read asks for the metrics with a token, "" for none.
func read(r *gatewaytest.Rig, token string, with ...string) (int, string) {
	r.T.Helper()
	req, err := http.NewRequestWithContext(r.T.Context(), http.MethodGet, r.Gateway.URL()+"/metrics", nil)
	if err != nil {
		r.T.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(with); i += 2 {
		req.Header.Set(with[i], with[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.T.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.T.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func token(p *gatewaytest.Peer, scope string) string {
	var made protocol.TokenCreated
	p.Do(protocol.MethodTokensCreate, protocol.TokenCreateParams{Name: "for " + scope, Scopes: []string{scope}}, &made)
	return made.Secret
}

// Whoever asks without being let in for this learns nothing, and what to do.
func TestSec_A_NET_MetricsNeedATokenOfTheirOwn(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	own := token(p, "metrics")
	if status, body := read(r, own); status != http.StatusNotFound || !strings.Contains(body, "diagnostics.prometheus.enabled") {
		t.Errorf("off: %d %q", status, body)
	}
	p.Patch(map[string]any{"diagnostics": map[string]any{"prometheus": map[string]any{"enabled": true}}})
	for name, tc := range map[string]struct {
		token  string
		with   []string
		status int
		words  string
	}{
		"nothing":            {"", nil, http.StatusUnauthorized, "a token is needed here, and none came"},
		"a wrong token":      {"hearth_wrong", nil, http.StatusUnauthorized, "is not one that Hearth knows"},
		"a token for others": {token(p, "chat"), nil, http.StatusForbidden, `no right "metrics"`},
		"a page":             {own, []string{"Origin", "https://example.org"}, http.StatusForbidden, "for programs"},
		"Prometheus":         {own, nil, http.StatusOK, "hearth_uptime"},
	} {
		status, body := read(r, tc.token, tc.with...)
		hints := strings.Count(body, "hearth tokens create")
		if !strings.Contains(body, tc.words) || hints > 1 || hints != strings.Count(body, "`hearth tokens create NAME --scope metrics`") {
			t.Errorf("%s: %q", name, body)
		}
		if status != tc.status || status != http.StatusOK && strings.Contains(body, "hearth_uptime") {
			t.Errorf("%s: %d %q, want %d", name, status, body, tc.status)
		}
	}
}

func TestWhatIsTold(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Patch(map[string]any{"diagnostics": map[string]any{"prometheus": map[string]any{"enabled": true}}})
	p.Say("main", "m1", "a word that nobody else may read")
	status, body := read(r, token(p, "metrics"))
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	for _, want := range []string{
		"hearth_build_info{version=", "hearth_uptime_seconds ", "hearth_sessions 1\n", `hearth_runs{state="active"} 0` + "\n",
		`hearth_model_calls_today{model="chat/echo"} 1` + "\n", "hearth_store_bytes ", "hearth_paused 0\n", "go_goroutines ",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is missing in\n%s", want, body)
		}
	}
	if strings.Contains(body, "nobody else") || strings.Contains(body, "main") {
		t.Errorf("it tells what people said or where:\n%s", body)
	}
}
