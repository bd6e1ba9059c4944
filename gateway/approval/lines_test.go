package approval_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/hearth-assistant/hearth/gateway/approval"
)

// using is a wish to use a tool from outside with arguments. One rule may allow
// the tool with any arguments, so the wish is the same, but it reads otherwise.
func using(args string) approval.Ask {
	return approval.Ask{
		Kind: approval.KindTool, RunID: "r1", SessionKey: "agent:main:main", AgentID: "main", Owner: true, Title: "Use pay of the MCP server " +
			"bank",
		Host: "bank", Digest: [32]byte{7}, Known: true, Lasting: true, Lines: []string{"Arguments:", args},
	}
}

// Calls at the same moment that a person reads differently are questions of
// their own: a yes to one, and a no to the other, mean what was read.
func TestSec_A_EXEC_20_OtherArgumentsAreAnotherQuestion(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		small := h.permit(t.Context(), using("amount: 1"))
		large := h.permit(t.Context(), using("amount: 1000"))
		same := h.permit(t.Context(), using("amount: 1"))
		synctest.Wait()
		open := h.Pending()
		if len(open) != 2 {
			t.Fatalf("%d questions, want 2", len(open))
		}
		for _, r := range open {
			scope := approval.ScopeOnce
			if r.Ask.Lines[1] == "amount: 1000" {
				scope = approval.ScopeDeny
			}
			if _, err := h.Resolve(t.Context(), r.ID, scope, owner); err != nil {
				t.Fatal(err)
			}
		}
		var denied *approval.DeniedError
		if got := <-large; !errors.As(got.err, &denied) {
			t.Errorf("large: %+v", got)
		}
		one, two := <-small, <-same
		if (one.err == nil) == (two.err == nil) {
			t.Errorf("one yes was used %+v and %+v", one, two)
		}
	})
}
