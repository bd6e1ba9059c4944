package provider_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// TestSec_A_DOS_13_AnswersOfHostileModels: JSON and records that invite endless
// work or memory end in an error or in little, in every dialect, as a stream and
// in one piece.
func TestSec_A_DOS_13_AnswersOfHostileModels(t *testing.T) {
	const n = 1 << 19
	deep := strings.Repeat("[", n) + strings.Repeat("]", n)
	objects := strings.Repeat(`{"a":`, n/5) + "1" + strings.Repeat("}", n/5)
	bombs := map[string]string{
		"deep lists": deep, "deep objects": objects, "deep in an answer": `{"choices":` + deep + `,"content":` + deep + `,"candidates":` + deep +
			`,"message":` + deep + `}`,
		"a number without end": `{"usage":{"prompt_tokens":` + strings.Repeat("9", n) + `},"prompt_eval_count":` + strings.Repeat("9", n) + `}`,
		"a huge exponent":      `{"usage":{"prompt_tokens":1e999999999,"input_tokens":-1e999999999},"eval_count":1e400}`,
		"an index far away":    `{"choices":[{"index":2000000000,"delta":{"tool_calls":[{"index":2000000000,"id":"x","function":{"name":"f","arguments":"{}"}}]}}],"type":"content_block_start","index":2000000000,"content_block":{"type":"tool_use","id":"x","name":"f"}}`,
		"an index below zero":  `{"choices":[{"index":-1,"delta":{"tool_calls":[{"index":-5,"id":"x","function":{"name":"f","arguments":"{}"}}]}}],"type":"content_block_start","index":-7,"content_block":{"type":"tool_use","id":"x","name":"f"}}`,
		"deep arguments": `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"` +
			strings.Repeat("[", n) + `"}}]},"finish_reason":"tool_calls"}]}`,
		"a key many times": `{` + strings.Repeat(`"choices":[],`, n/13) + `"a":1}`,
		"half characters":  `{"choices":[{"delta":{"content":"` + strings.Repeat(`\ud800`, n/6) + `"}}]}`,
		"only line breaks": strings.Repeat("\n", n), "only comments": strings.Repeat(":\n", n/2), "only data": strings.Repeat("data\n", n/5),
		"rubbish": base64.StdEncoding.EncodeToString(make([]byte, n)),
	}
	for name, bomb := range bombs {
		for _, kind := range []string{"text/event-stream", "application/x-ndjson", "application/json"} {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", kind)
				if kind == "text/event-stream" && !strings.HasPrefix(name, "only") {
					_, _ = w.Write([]byte("data: "))
				}
				_, _ = w.Write([]byte(bomb + "\n\n"))
			}))
			s := &server{http: srv.Client(), url: srv.URL}
			for dialect, p := range s.dialects(nil) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				o := collect(t, t.Context(), p, withTools(ask("m", "hello")))
				runtime.ReadMemStats(&after)
				if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 64 {
					t.Errorf("%s as %s to %s: %d MB for %d KB", name, kind, dialect, mb, len(bomb)>>10)
				}
				if o.err == nil && len(o.text) > len(bomb) {
					t.Errorf("%s as %s to %s: it grew to %d bytes", name, kind, dialect, len(o.text))
				}
			}
			srv.CloseClientConnections()
			srv.Close()
		}
	}
}
