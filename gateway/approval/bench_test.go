package approval_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/approval"
)

// BenchmarkPermitByRule is the whole check when a rule decides, among many.
func BenchmarkPermitByRule(b *testing.B) {
	h := newHouse(b)
	for i := range 200 {
		a := ask(fmt.Sprint("r", i), fmt.Sprint("git ", i))
		out := h.permit(b.Context(), a)
		for {
			select {
			case got := <-out:
				b.Fatal(got)
			default:
			}
			// The one before may still be on its way out of the list.
			at := slices.IndexFunc(h.Pending(), func(r approval.Record) bool { return r.Ask.RunID == a.RunID })
			if at < 0 {
				continue
			}
			if _, err := h.Resolve(b.Context(), h.Pending()[at].ID, approval.ScopeHere, owner); err == nil {
				break
			}
		}
		<-out
	}
	a := ask("r", "git 0")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Permit(b.Context(), a); err != nil {
			b.Fatal(err)
		}
	}
}
