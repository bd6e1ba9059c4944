package tui

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// TestSec_A_EXEC_13_ScriptsInTheTerminal: the text that a yes is for is read
// before it can be given.
func TestSec_A_EXEC_13_ScriptsInTheTerminal(t *testing.T) {
	b := newBench(t, 60, 14).connect()
	a := askFor("one", "sh a.sh", "Folder: /work", "Variable: A=rm -rf ~", "It runs outside the sandbox.")
	a.Request.HearthScripts = []protocol.ApprovalScript{{Path: "/work/a.sh", Hash: "abc", Rows: 30, Size: 99, Text: "\techo 1\necho 2\n" +
		"echo 3\necho 4\necho 5\nsecond page", Cut: true}}
	b.event(protocol.EventExecApprovalRequested, a)
	b.keys("ctrl+g")
	b.wants("Variable: A=rm -rf ~", "outside the sandbox", "Text of /work/a.sh", "echo 1", "read on", "!second page")
	b.keys("'y")
	b.wants("Read it to the end")
	b.keys("pgdown")
	b.wants("second page", "24 more lines stand in the file itself", "y once")
}
