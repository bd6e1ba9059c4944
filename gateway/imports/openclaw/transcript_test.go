package openclaw

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/imports/source"
)

// Whatever a line of a transcript is, it is a message, nothing, or told in its
// place.
func FuzzTranscript(f *testing.F) {
	for _, s := range []string{
		`{"type":"message","id":"a","timestamp":"2026-05-01T08:00:01Z","message":{"role":"user","content":"x"}}`,
		`{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"n","arguments":{"a":1}}]}}`,
		`{"type":"compaction","summary":"s","timestamp":1e300}`,
		`{"type":"message","message":{"role":"toolResult","content":[{"type":"image"}]}}`,
		`[`, `null`, "{}\n\n{}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for m, err := range messages(source.Lines(strings.NewReader(in), maxEvent)) {
			if err != nil || m.Role == "" || m.ID == "" || len(m.Content) == 0 || m.Timestamp < 0 {
				t.Fatalf("%+v, %v", m, err)
			}
			if _, err := json.Marshal(m.Message); err != nil {
				t.Fatal(err)
			}
		}
	})
}
