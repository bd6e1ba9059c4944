//go:build unix

package hooks_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A program gets the event as its input and nothing of the gateway's environment; it
// runs as a copy of what was enabled; nothing waits for one that hangs, and all that
// it started ends with its time.
func TestHandlerPrograms(t *testing.T) {
	v := gatewaytest.NewVictim(t, "chat/echo")
	v.Start("")
	c := v.Dial(t.Context(), nil)
	if c == nil {
		t.Fatal("the gateway does not answer")
	}
	t.Cleanup(func() { _ = c.Close() })
	p := &gatewaytest.Peer{Client: c, T: t}
	dir := gatewaytest.Workspace(t, p)
	say := func(id, text string) {
		t.Helper()
		p.Send("main", id, text)
		gatewaytest.WaitFor(t, "the answer to "+text, func() bool {
			msgs := p.History("main").Messages
			return len(msgs) > 1 && slices.ContainsFunc(msgs, func(m protocol.Message) bool { return m.Meta != nil && m.Meta.RunID == id }) &&
				!slices.ContainsFunc(msgs, func(m protocol.Message) bool { return m.Hearth != nil && m.Hearth.State == protocol.ReceiptAnswering }) &&
				msgs[len(msgs)-1].Role == protocol.MessageAssistant
		})
	}
	say("a", "hello")
	out := t.TempDir()
	hooks := filepath.Join(dir, "hooks")
	putHook(t, hooks, "writes", `"command:new", "gateway:shutdown"`, map[string]string{
		"handler.sh": "#!/bin/sh\ncat >> " + out + "/event\nenv > " + out + "/env\npwd > " + out + "/pwd\n. \"$HOOK_DIR/lib.sh\"\n",
		"lib.sh":     "echo '{\"messages\": [\"written by a program\"]}'\n",
	})
	p.Patch(map[string]any{"hooks": map[string]any{"internal": map[string]any{"entries": map[string]any{
		"writes": map[string]any{"env": map[string]any{"COLOUR": "blue"}, "shade": 3}, "hangs": map[string]any{"timeoutSeconds": 1}}}}})
	putHook(t, hooks, "hangs", `"message:received"`, map[string]string{
		"handler": "#!/bin/sh\n(trap '' TERM; exec sleep 600) &\necho $! > " + out + "/pid\nsleep 600\n"})
	enable(p, "writes")
	enable(p, "hangs")
	say("b", "/new")
	gatewaytest.WaitFor(t, "the words of the program", func() bool { return noted(p, "main", "written by a program") })
	var ev struct {
		Type, Action, SessionKey string
		Timestamp                time.Time
		Options                  struct{ Shade int }
		Context                  struct{ WorkspaceDir string }
	}
	raw, err := os.ReadFile(filepath.Join(out, "event"))
	if err != nil || json.Unmarshal(raw, &ev) != nil || ev.Type != "command" || ev.Action != "new" || ev.SessionKey != "agent:main:main" ||
		ev.Options.Shade != 3 || ev.Context.WorkspaceDir != dir || time.Since(ev.Timestamp) > time.Hour {
		t.Errorf("%v: %s", err, raw)
	}
	env, _ := os.ReadFile(filepath.Join(out, "env"))
	if strings.Contains(string(env), "sk-") || strings.Contains(string(env), "HEARTH") || !strings.Contains(string(env), "COLOUR=blue") {
		t.Errorf("its environment: %s", env)
	}
	began := time.Now()
	say("c", "are you there?")
	if took := time.Since(began); took > time.Minute {
		t.Errorf("a hook that hangs held an answer up for %v", took)
	}
	gatewaytest.WaitFor(t, "the end of the one that hangs", func() bool {
		return strings.Contains(hookOf(p, "hangs").Hearth.LastError, "took too long")
	})
	troubled(p, "The hook hangs failed")
	raw, err = os.ReadFile(filepath.Join(out, "pid"))
	pid, perr := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || perr != nil {
		t.Fatal(err, perr)
	}
	gatewaytest.WaitFor(t, "the end of what it started", func() bool { return syscall.Kill(pid, 0) != nil })
	p.Do(protocol.MethodHookEnable, protocol.HookEnableParams{Name: "hangs"}, nil)
	if err := v.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	gatewaytest.WaitFor(t, "the word that Hearth stops", func() bool {
		raw, _ := os.ReadFile(filepath.Join(out, "event"))
		return strings.Contains(string(raw), `"action":"shutdown"`)
	})
}
