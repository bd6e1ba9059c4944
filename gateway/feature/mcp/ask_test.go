package mcp

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/words"
	"github.com/hearth-assistant/hearth/gateway/mcp"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// A person decides about a tool from outside with its arguments and its warnings
// before them, also on a network, or not there.
func TestSec_A_EXEC_13_ToolsFromOutsideAreShownWhole(t *testing.T) {
	wish := mcp.Wish{Server: mcp.Server{ID: "bank", Command: "bank-mcp"}, Tool: "pay", Args: []byte(`{"amount":1000,"to":"\u202emallory"}`),
		Changed: true}
	a := ask(tool.Call{ID: "c"}, wish)
	said := words.Question(approval.Record{ID: "0123456789", Ask: a})
	for _, want := range []string{"Server: bank (bank-mcp)", `"amount": 1000`, "mallory", "/approve 01234567 once"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if n := strings.Count(said, "not what it was when you allowed it"); n != 1 {
		t.Errorf("the change is told %d times:\n%s", n, said)
	}
	if strings.Contains(said, "\u202e") {
		t.Errorf("it turns the direction of writing: %q", said)
	}
	wish.Args = []byte(`{"text":"` + strings.Repeat("x", words.Limit) + `"}`)
	if said = words.Question(approval.Record{ID: "0123456789", Ask: ask(tool.Call{}, wish)}); strings.Contains(said, "/approve") {
		t.Error("what does not fit can be approved")
	}
}

// TestSec_A_DOS_QuestionsStaySmall: 15 KB of nested arguments were a question of
// hundreds of megabytes, in the store and at each client.
func TestSec_A_DOS_QuestionsStaySmall(t *testing.T) {
	for _, args := range []string{
		strings.Repeat("[", 7900) + strings.Repeat("]", 7900),
		strings.Repeat("[", 64) + strings.Repeat("1,", 7800) + "1" + strings.Repeat("]", 64),
	} {
		a := ask(tool.Call{}, mcp.Wish{Server: mcp.Server{ID: "bank"}, Tool: "pay", Args: []byte(args)})
		if size := len(strings.Join(a.Lines, "\n")); size > 8*approval.MaxBytes {
			t.Errorf("%d bytes of arguments became %d bytes of question", len(args), size)
		}
	}
}
