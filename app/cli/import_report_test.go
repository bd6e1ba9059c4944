package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// TestImportReport: before an import every setting is named that comes in or stays, on
// lines that can be read; where names are left out, it says how many and how to see them.
func TestImportReport(t *testing.T) {
	var names []string
	for i := range 9 {
		names = append(names, fmt.Sprintf("agents.defaults.setting%d", i))
	}
	rep := protocol.ImportReport{
		Program: "OpenClaw", Dry: true,
		Rows: []protocol.ImportRow{{Kind: "setting", Found: 10, New: 9, Here: 1, Names: names, Kept: []string{"session.scope"}}},
		Left: []protocol.ImportLeft{
			{Kind: "setting", Names: names, Many: 9, Why: "no"}, {Kind: "other", Names: []string{"paired devices"}, Many: 3, Why: "them"},
		},
	}
	show := func() string {
		var out bytes.Buffer
		if err := printImport(&app{World: World{Out: &out, Env: func(string) string { return "" }}}, rep); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	got := show()
	for _, want := range []string{
		"setting5 … and 3 more (`--dry-run --json` names them)\n\nNew settings:\n  agents.defaults.setting0,", " agents.defaults.setting8\n",
		"that are here already, and stay:\n  session.scope\n", "setting5 … and 3 more (`--dry-run --json` names them): no\n",
		"paired devices … (3): them\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	if rep.Dry = false; strings.Contains(show(), "New settings") {
		t.Error("what came in is named as what would")
	}
}
