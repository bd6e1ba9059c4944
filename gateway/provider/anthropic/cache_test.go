package anthropic

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// What is the same in every turn is one part of the system prompt and read from
// the cache; what changes stands behind it and is not in its key.
func TestTheBoundaryDividesTheSystemPrompt(t *testing.T) {
	p := &provider{}
	for _, c := range []struct {
		system string
		stable int
		want   []string
	}{
		{"same|other", 5, []string{"same|", "other"}},
		{"same", 0, []string{"same"}},
		{"same", 4, []string{"same"}},
		{"same", 9, []string{"same"}},
		{"same\n", 4, []string{"same"}}, // no empty part
		{"", 0, nil},
	} {
		raw, err := p.ask(model.Request{Model: "m", System: c.system, Stable: c.stable}).Bytes()
		var asked struct{ System []part }
		if err := errors.Join(err, json.Unmarshal(raw, &asked)); err != nil {
			t.Fatal(err)
		}
		parts := asked.System
		if len(parts) != len(c.want) {
			t.Errorf("%q: %d parts", c.system, len(parts))
			continue
		}
		for i, part := range parts {
			if part.Text != c.want[i] || (part.CacheControl != nil) != (i == 0) {
				t.Errorf("%q: part %d is %q, cached %v", c.system, i, part.Text, part.CacheControl != nil)
			}
		}
	}
}
