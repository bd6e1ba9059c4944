package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// TestSec_A_EXEC_13_Printed: the command line shows all that a yes allows.
func TestSec_A_EXEC_13_Printed(t *testing.T) {
	r := protocol.Approval{ID: "0123456789abcdef", State: "pending", Request: protocol.ApprovalRequest{
		HearthTitle: "Run sh a.sh", HearthLines: []string{"Text for /bin/sh:", "  echo 'a  b'", "Variable: A=rm -rf ~",
			"It runs outside the sandbox."},
		HearthWarn:    []string{"It runs outside the sandbox."},
		HearthScripts: []protocol.ApprovalScript{{Path: "/w/a.sh", Rows: 20, Text: strings.Repeat("true\n", 19) + "last\x1b[2J", Size: 100}},
	}}
	for rows, want := range map[int][]string{
		scriptRows: {"  echo 'a  b'", "Variable: A=rm -rf ~", "! It runs outside the sandbox.", "text of /w/a.sh",
			"8 more lines: `hearth approvals show 01234567`"},
		wholeScript: {"| last\n"},
	} {
		var out bytes.Buffer
		if err := printApproval(&app{World: World{Out: &out, Env: func(string) string { return "" }}}, &r, rows); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("no %q in\n%s", w, out.String())
			}
		}
		if strings.Contains(out.String(), "\x1b[2J") {
			t.Error("a script moves the cursor")
		}
	}
	rule := protocol.ApprovalRule{Title: "Run cat notes.txt in /w", AnyArguments: true, Unconfined: true}
	if w := ruleWords(rule); !strings.Contains(w, "any arguments") || !strings.Contains(w, "outside the sandbox") {
		t.Error(w)
	}
}
