package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func askFor(id, command string, lines ...string) protocol.Approval {
	return protocol.Approval{ID: id, Request: protocol.ApprovalRequest{
		Command: command, AgentID: "main", SessionKey: mainKey, HearthTitle: "Run " + command, HearthLines: lines, HearthFrom: "webchat",
		HearthScopes: []string{"once", "here", "deny", "never"},
	}}
}

func TestApprovalsAreShownAndDecided(t *testing.T) {
	b := newBench(t, 80, 24).connect()
	b.event(protocol.EventExecApprovalRequested, askFor("one", "git push", "Folder: /work/site"))
	b.wants("needs your yes: 1", "Ctrl+G")
	b.keys("'y") // typing does not allow anything
	if strings.Contains(strings.Join(b.g.calls, "\n"), protocol.MethodExecApprovalResolve) {
		t.Fatal(b.g.calls)
	}
	b.keys("ctrl+g")
	b.wants("Run git push", "Folder: /work/site", "y once", "!p program")
	b.keys("'p")
	b.wants("cannot be allowed that far")
	b.keys("'h")
	if got := b.g.calls[len(b.g.calls)-1]; got != `exec.approval.resolve {"id":"one","decision":"allow-always","hearthScope":"here"}` {
		t.Error(got)
	}
	b.event(protocol.EventExecApprovalResolved, protocol.ApprovalResolved{ID: "one"})
	b.wants("!needs your yes", "!Run git push")
	b.keys("ctrl+g")
	b.wants("Nothing waits")
}

// What has not been read to its end cannot be allowed.
func TestSec_A_EXEC_13_ReadToTheEnd(t *testing.T) {
	b := newBench(t, 60, 12).connect()
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprint("harmless ", i))
	}
	b.event(protocol.EventExecApprovalRequested, askFor("one", "x", append(lines, "pwned")...))
	b.keys("ctrl+g")
	b.wants("read on", "!pwned")
	b.keys("'y")
	b.wants("Read it to the end")
	for _, c := range b.g.calls {
		if strings.HasPrefix(c, protocol.MethodExecApprovalResolve) {
			t.Fatal("allowed unread")
		}
	}
	for range 10 {
		b.keys("pgdown")
		b.seen()
	}
	b.wants("pwned")
	b.keys("'y")
	if got := b.g.calls[len(b.g.calls)-1]; !strings.HasPrefix(got, protocol.MethodExecApprovalResolve) {
		t.Error(got)
	}
}

// A request that is over takes its screen along, so that no key for it meets
// another one.
func TestAnsweredElsewhereClosesTheScreen(t *testing.T) {
	b := newBench(t, 80, 24).connect()
	b.event(protocol.EventExecApprovalRequested, askFor("one", "ls"))
	b.event(protocol.EventExecApprovalRequested, askFor("two", "pwned"))
	b.keys("ctrl+g")
	b.wants("Run ls")
	b.event(protocol.EventExecApprovalResolved, protocol.ApprovalResolved{ID: "one"})
	b.wants("!Run pwned", "needs your yes: 1")
	b.keys("ctrl+g")
	b.wants("Run pwned")
	b.keys("'N")
	if got := b.g.calls[len(b.g.calls)-1]; !strings.Contains(got, `"id":"two","decision":"deny","hearthScope":"never"`) {
		t.Error(got)
	}
}
