package gateway_test

import (
	"fmt"
	"strings"
	"testing"
)

// /context tells exactly what was sent.
func TestContextTellsWhatIsSent(t *testing.T) {
	for _, mdl := range []string{"chat/echo", "claude/echo", "llama/echo"} {
		r := newRig(t, mdl)
		p := r.connect()
		p.say("main", "a", "hello")
		sent := r.model.Snapshot().System
		if !strings.Contains(sent, "## Tooling") || !strings.Contains(sent, "- session_status: ") || !strings.Contains(sent, `"surface":"webchat"`) {
			t.Errorf("%s was sent:\n%s", mdl, sent)
		}
		said := p.say("main", "b", "/context detail").Message.Text()
		if want := fmt.Sprintf("- System prompt: %d bytes\n", len(sent)); !strings.Contains(said, want) {
			t.Errorf("%s: %q is not in\n%s", mdl, want, said)
		}
		for _, part := range []string{"  - Tooling: ", "  - Safety: ", "  - Runtime: ", "- Tools: ", "  - session_status: "} {
			if !strings.Contains(said, part) {
				t.Errorf("%s: %q is missing in\n%s", mdl, part, said)
			}
		}
	}
}
