package openaiapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// The openai package of npm, unchanged, streams a chat and a tool call from us.
func TestOfficialOpenAIClient(t *testing.T) {
	dir := os.Getenv("HEARTH_OPENAI_PACKAGE")
	if dir == "" {
		t.Skip("the openai package of npm is not there; `build/test --only openai-client` fetches it and runs this")
	}
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	app := gatewaytest.ProgramOf(t, r, p, "notebook")
	run := func(vectors string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "node", "testdata/openai-client.mjs")
		cmd.Env = append(os.Environ(), "OPENAI_PACKAGE="+dir, "BASE="+app.Base, "TOKEN="+app.Token, "VECTORS="+vectors)
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
	}
	run("no")

	made := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask struct{ Input []string }
		_ = json.NewDecoder(r.Body).Decode(&ask)
		type row struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		rows := make([]row, len(ask.Input))
		for i := range rows {
			rows[i] = row{i, []float32{1, 0.5, float32(i)}}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": rows})
	}))
	defer made.Close()
	raw := `{"agents":{"defaults":{"memorySearch":{"model":"vectors","remote":{"baseUrl":"` + made.URL + `/v1"}}}}}`
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: raw}, nil)
	run("yes")
}

// The AI SDK of npm, unchanged, with its provider for services like ours.
func TestOfficialAISDK(t *testing.T) {
	dir := os.Getenv("HEARTH_AI_PACKAGES")
	if dir == "" {
		t.Skip("the AI SDK of npm is not there; `build/test --only ai-sdk` fetches it and runs this")
	}
	r := gatewaytest.New(t, "chat/echo")
	app := gatewaytest.ProgramOf(t, r, r.Connect(), "notebook")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "testdata/ai-sdk-client.mjs")
	cmd.Env = append(os.Environ(), "AI_PACKAGES="+dir, "BASE="+app.Base, "TOKEN="+app.Token)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
