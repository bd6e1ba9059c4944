package modelcheck

import (
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
)

func TestWords(t *testing.T) {
	for want, c := range map[string]struct {
		found            provider.Tested
		claimed, trained int
		note             string // part of the only one
	}{
		"answered in 1.2 s": {},
		"answered in 1.2 s · 32K context verified · tools work": {found: provider.Tested{Window: 32768, Tools: provider.ToolsWork},
			claimed: 32768},
		"answered in 1.2 s · 40K context verified": {found: provider.Tested{Window: 40_000}, claimed: 40_000},
		"answered in 1.2 s · no tools":             {found: provider.Tested{Tools: provider.ToolsFail}, note: "for talking only"},
		"answered in 1.2 s · really 4,096 of 131,072 tokens of context": {
			found: provider.Tested{Window: 4096, Limit: 8192}, claimed: 32768, trained: 131_072, note: "context of 4,096 tokens is small"},
	} {
		r := &check{found: c.found, target: failover.Target{}, choice: provider.Choice{Trained: c.trained},
			res: Result{Took: 1234 * time.Millisecond}}
		r.target.ContextWindow = c.claimed
		r.words()
		if r.res.Line != want || (c.note == "") != (len(r.res.Notes) == 0) || !strings.Contains(strings.Join(r.res.Notes, "\n"), c.note) {
			t.Errorf("%q %q, want %q", r.res.Line, r.res.Notes, want)
		}
	}
}
