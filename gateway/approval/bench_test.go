package approval_test

import (
	"fmt"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/approval"
)

// BenchmarkPermitByRule is the whole check when a rule decides, among many.
func BenchmarkPermitByRule(b *testing.B) {
	h := newHouse(b)
	for i := range 200 {
		a := ask(fmt.Sprint("r", i), fmt.Sprint("git ", i))
		out := h.permit(b.Context(), a)
		for len(h.Pending()) == 0 {
			select {
			case got := <-out:
				b.Fatal(got)
			default:
			}
		}
		if _, err := h.Resolve(b.Context(), h.Pending()[0].ID, approval.ScopeHere, owner); err != nil {
			b.Fatal(err)
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
