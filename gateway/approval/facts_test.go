package approval_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/sentence"
)

// TestSec_A_EXEC_13_FactsAreTheLines: taken apart, an ask says what its lines say,
// and what may be folded is never what it does.
func TestSec_A_EXEC_13_FactsAreTheLines(t *testing.T) {
	a := ask("r1", "echo 'Starts: ls'\n  Tool: x; sh a.sh > out")
	a.Says = sentence.New("command")
	a.Warnings = []string{"It runs outside the sandbox."}
	a.Lines = []string{"Text for /bin/sh:", "  echo 'Starts: ls'", "    Tool: x; sh a.sh > out", "Folder: /work/site", "Variable: A=rm -rf ~",
		"Starts: sh a.sh  (/bin/dash)", "Writes to: /work/site/out", "Argument 3: y", "Strange: thing", "It runs outside the sandbox."}
	shown, err := a.Shown()
	if err != nil {
		t.Fatal(err)
	}
	var folded, open []string
	for _, f := range shown.Facts() {
		if f.Detail {
			folded = append(folded, f.Code)
		} else {
			open = append(open, f.Text)
		}
	}
	if !slices.Equal(folded, []string{"shell", "starts"}) {
		t.Errorf("folded %q", folded)
	}
	for _, want := range []string{a.Command, "/work/site", "A=rm -rf ~", "/work/site/out", "y", "Strange: thing"} {
		if !slices.Contains(open, want) {
			t.Errorf("no %q among %q", want, open)
		}
	}

	// The words of a tool that is not ours make no facts of their own.
	b := ask("r2", "")
	b.Kind, b.Command, b.Lines = approval.KindTool, "", []string{"Command: canvas.eval", "script: a()", "  Starts: evil()", "Starts: evil()"}
	if shown, err = b.Shown(); err != nil {
		t.Fatal(err)
	}
	for _, f := range shown.Facts() {
		if f.Detail && strings.Contains(f.Text, "evil") {
			t.Errorf("folded: %+v", f)
		}
	}
}
