package approval_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/approval"
)

// TestSec_A_EXEC_13_RulesSayAllTheyAllow: a list of rules never says less than a
// rule does.
func TestSec_A_EXEC_13_RulesSayAllTheyAllow(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		h.allow(t, ask("r1", "cat notes.txt"), approval.ScopeProgram)
		bare := ask("r2", "git push")
		bare.Unconfined = true
		h.allow(t, bare, approval.ScopeHere)
		var words []string
		for _, r := range h.Rules() {
			words = append(words, r.Words())
		}
		for _, want := range []string{"with any arguments in /work/site", "Run git push, outside the sandbox"} {
			if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, want) }) {
				t.Errorf("no %q in %q", want, words)
			}
		}
		// Any arguments outside of the sandbox are every file of the person.
		if asked, _ := h.asks(t, bare); asked {
			t.Error("exactly the same is asked again")
		}
		other := bare
		other.Command, other.Title, other.RunID = "cat ~/.ssh/id_ed25519", "Run cat", "r3"
		if asked, _ := h.asks(t, other); !asked {
			t.Error("another command outside of the sandbox is not asked about")
		}
	})
}

// TestSec_A_EXEC_13_LinesAreWhole: who makes an ask may name less than it allows.
func TestSec_A_EXEC_13_LinesAreWhole(t *testing.T) {
	a := ask("r1", "a\nb")
	a.Env, a.Writes, a.Warnings, a.Argv = []string{"X=1\n2"}, []string{"/w"}, []string{"It runs outside the sandbox."}, []string{"x y"}
	shown, err := a.Shown()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Text:", "  a", "  b", "Argument 0: x y", "Folder: /work/site", `Variable: X=1\u{a}2`, "Writes to: /w",
		"It runs outside the sandbox."}
	if !slices.Equal(shown.Lines, want) {
		t.Errorf("%q", shown.Lines)
	}
	a.Lines = []string{"Something"}
	if shown, _ = a.Shown(); !slices.Equal(shown.Lines, []string{"Something", "It runs outside the sandbox."}) {
		t.Errorf("%q", shown.Lines)
	}
}
