package wire_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/openai"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// What the variables ask for is logged, and no key with it.
func TestCodeMode_DebugLogs(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 8 {
			_, _ = w.Write([]byte(`data: {"choices":[{"index":0,"delta":{"content":"word sk-abcdefghijklmnop "}}]}` + "\n\n"))
		}
		_, _ = w.Write([]byte(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"))
	}))
	defer srv.Close()
	for name, c := range map[string]struct {
		env       map[string]string
		has, lack []string
		events    int
	}{
		"nothing": {nil, nil, []string{"model"}, 0},
		"transport": {map[string]string{"HEARTH_DEBUG_MODEL_TRANSPORT": "1"}, []string{"model request", "status=200", "/chat/completions"},
			[]string{"secret words", "exec"}, 0},
		"tools": {map[string]string{"HEARTH_DEBUG_MODEL_PAYLOAD": "tools"}, []string{`tools="[exec wait]"`}, []string{"secret words"}, 0},
		"payload": {map[string]string{"HEARTH_DEBUG_MODEL_PAYLOAD": "full-redacted"}, []string{"secret words", `[exec wait]`, "[redacted]"},
			nil, 0},
		"events": {map[string]string{"HEARTH_DEBUG_SSE": "events"}, []string{"bytes="}, []string{"word"}, 10},
		"peek":   {map[string]string{"HEARTH_DEBUG_SSE": "peek"}, []string{"word", "[redacted]"}, nil, 5},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			d := wire.NewDebug(func(n string) string { return c.env[n] }, slog.New(slog.NewTextHandler(&log, nil)))
			p := openai.New(wire.Service{BaseURL: srv.URL, Key: func() string { return "sk-abcdefghijklmnop" }, Debug: d}, openai.Quirks{})
			req := model.Request{Model: "m", Tools: []model.ToolSpec{{Name: "exec", Schema: []byte(`{}`)}, {Name: "wait", Schema: []byte(`{}`)}},
				Exact:    []string{"exec", "wait"},
				Messages: []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Text: "secret words sk-abcdefghijklmnop"}}}}}
			for _, err := range p.Stream(t.Context(), req) {
				if err != nil {
					t.Fatal(err)
				}
			}
			said := log.String()
			for _, want := range c.has {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in %s", want, said)
				}
			}
			for _, no := range append(c.lack, "sk-abcdefghijklmnop") {
				if strings.Contains(said, no) {
					t.Errorf("%q in %s", no, said)
				}
			}
			if n := strings.Count(said, `"model event"`); n != c.events {
				t.Errorf("%d events", n)
			}
		})
	}
}
