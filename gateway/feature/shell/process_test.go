//go:build unix

package shell_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// What commands leave behind, in the real program.

// gone waits until a process has ended.
func gone(g *gatewaytest.Guarded, pid int) {
	g.T.Helper()
	for syscall.Kill(pid, 0) == nil {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-g.Ctx.Done():
			g.T.Fatalf("process %d still runs", pid)
		}
	}
}

// pidIn waits for a pid in a file of the workspace.
func pidIn(g *gatewaytest.Guarded, name string) int {
	g.T.Helper()
	for {
		if pid, err := strconv.Atoi(strings.TrimSpace(g.Canary(name))); err == nil {
			return pid
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-g.Ctx.Done():
			g.T.Fatal("the command did not start")
		}
	}
}

// leaveRunning lets a command run on, and returns its process id.
func leaveRunning(g *gatewaytest.Guarded) int {
	g.T.Helper()
	_ = os.Remove(g.Work + "/pid")
	run := g.Say(`run:{"command":"echo $$ > pid; exec sleep 600","background":true}`)
	if err := g.Resolve(g.Ask().ID, "once"); err != nil {
		g.T.Fatal(err)
	}
	if said := g.Answer(run); !strings.Contains(said, "still running") {
		g.T.Fatal(said)
	}
	pid := pidIn(g, "pid")
	if err := syscall.Kill(pid, 0); err != nil {
		g.T.Fatalf("it does not run: %v", err)
	}
	return pid
}

// A session that begins anew or is deleted takes its background commands along.
func TestSec_A_EXEC_24_SessionsEndTheirCommands(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	g.Up("")
	for name, end := range map[string]func() error{
		"reset": func() error {
			return g.Client.Call(g.Ctx, protocol.MethodSessionsReset, protocol.SessionsResetParams{Key: "main"}, &json.RawMessage{})
		},
		"delete": func() error {
			return g.Client.Call(g.Ctx, protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: "main"}, &json.RawMessage{})
		},
		"/new": func() error { g.Say("/new"); return nil },
	} {
		pid := leaveRunning(g)
		if err := end(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		gone(g, pid)
	}
}

// run lets a command run with a yes, and returns what came of it.
func run(g *gatewaytest.Guarded, command string) (answer string, details map[string]any) {
	g.T.Helper()
	run := g.Say("run:" + command)
	if err := g.Resolve(g.Ask().ID, "once"); err != nil {
		g.T.Fatal(err)
	}
	answer = g.Answer(run)
	for _, m := range g.Settled(gatewaytest.MainKey)[gatewaytest.MainKey] {
		if m.Role == protocol.MessageToolResult {
			details = nil
			_ = json.Unmarshal(m.Details, &details)
		}
	}
	return answer, details
}

// A command's writes, as far as they are known beforehand, are taken back.
func TestUndoOfCommands(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	g.Up("")
	if err := os.WriteFile(filepath.Join(g.Work, "notes"), []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, d := run(g, "echo new > notes; echo more > made"); d["undo"] != "kept" || g.Canary("notes") != "new\n" {
		t.Fatalf("%v, %q, %s", d, g.Canary("notes"), said)
	}
	if out, err := g.CLI("undo", "--preview"); err != nil || !strings.Contains(out, "goes back") || !strings.Contains(out, "is deleted") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := g.CLI("undo"); err != nil || g.Canary("notes") != "old\n" {
		t.Errorf("%v, %q\n%s", err, g.Canary("notes"), out)
	}
	if _, err := os.Stat(filepath.Join(g.Work, "made")); err == nil {
		t.Error("what the command made is still there")
	}
	for command, want := range map[string]any{"ls": nil, "touch made": "no", "touch other > log": "partly"} {
		if _, d := run(g, command); d["undo"] != want {
			t.Errorf("%s: undo %v, want %v", command, d["undo"], want)
		}
	}
	run := g.Say("run:rm notes")
	a := g.Ask()
	if out, err := g.CLI("approvals", "show", a.ID[:8]); err != nil || !strings.Contains(out, "cannot be undone") {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(strings.Join(a.Request.HearthWarn, " "), "cannot be undone") {
		t.Errorf("%q", a.Request.HearthWarn)
	}
	_ = g.Resolve(a.ID, "deny")
	g.Answer(run)
}

// Killed between the copy and the command: the command did not run, and there is
// nothing to take back. Killed while it writes: force brings the old content back.
func TestFault_F_CRASH_07_AfterUndoKept(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	notes := filepath.Join(g.Work, "notes")
	g.Up("afterUndoKept")
	if err := os.WriteFile(notes, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.Say("run:echo new > notes")
	_ = g.Resolve(g.Ask().ID, "once")
	g.Died()
	g.Up("")
	g.Settled(gatewaytest.MainKey)
	if g.Canary("notes") != "old\n" {
		t.Fatalf("it ran: %q", g.Canary("notes"))
	}
	if out, err := g.CLI("undo", "--preview"); err != nil || !strings.Contains(out, "is as it was") {
		t.Errorf("%v\n%s", err, out)
	}
	g.Say("run:echo new > notes; echo $$ > pid; sleep 600")
	_ = g.Resolve(g.Ask().ID, "once")
	pid := pidIn(g, "pid")
	g.Kill()
	gone(g, pid)
	g.Up("")
	if out, err := g.CLI("undo"); err != nil || g.Canary("notes") != "new\n" || !strings.Contains(out, "left alone") {
		t.Errorf("%v, %q\n%s", err, g.Canary("notes"), out)
	}
	if out, err := g.CLI("undo", "--force"); err != nil || g.Canary("notes") != "old\n" {
		t.Errorf("%v, %q\n%s", err, g.Canary("notes"), out)
	}
}

// Names that callers choose are rows of the store and never files: whatever a
// session, a run, a request or a picture is called, no file appears anywhere.
func TestSec_A_FILE_05_CallerChosenNames(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	g.Up("")
	files := func() (out []string) {
		_ = filepath.WalkDir(filepath.Dir(string(g.Dir)), func(p string, d os.DirEntry, err error) error {
			if err == nil && !strings.Contains(p, string(filepath.Separator)+"go-build") {
				out = append(out, p)
			}
			return nil
		})
		return out
	}
	g.Answer(g.Say("hello")) // the first message makes what every start makes
	before := files()
	names := []string{
		"../../x", "..", ".", "/etc/passwd", "CON", "NUL.txt", "a/b", `a\b`, `\\host\share`, "C:x", "a:b::$DATA", strings.Repeat("n", 300),
		strings.Repeat("n", 100_000),
		"🔥", "trailing ", "trailing.", "a\x00b", "a\nb", "\u202egnp", "%2e%2e%2f", "~root", "file:///etc/passwd",
	}
	for i, name := range names {
		var raw json.RawMessage
		_ = g.Client.Call(g.Ctx, protocol.MethodSessionsCreate, protocol.SessionsCreateParams{Key: name}, &raw)
		_ = g.Client.Call(g.Ctx, protocol.MethodTranscriptExport, protocol.TranscriptExportParams{Key: name}, &raw)
		_ = g.Client.Call(g.Ctx, protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "named", Message: "hi " + strconv.Itoa(i),
			IdempotencyKey: name}, &raw)
		_ = g.Client.Call(g.Ctx, protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: name}, &raw)
		for _, m := range []string{protocol.MethodUndoPreview, protocol.MethodUndoApply} {
			if err := g.Client.Call(g.Ctx, m, protocol.UndoParams{RunID: name}, &raw); err == nil {
				t.Errorf("%s of %.40q was done", m, name)
			}
		}
		if err := g.Client.Call(g.Ctx, protocol.MethodExecApprovalGet, protocol.ApprovalIDParams{ID: name}, &raw); err == nil {
			t.Errorf("there is a request called %.40q", name)
		}
	}
	if diff := cmp.Diff(before, files()); diff != "" {
		t.Errorf("files came or went: %s", diff)
	}
	if out, err := g.CLI("status"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// loops is how often a crash test repeats: enough for each change, more on wish.
func loops(t *testing.T, usual, long int) int {
	if n, err := strconv.Atoi(os.Getenv("HEARTH_LOOPS")); err == nil && n > 0 {
		return n
	}
	return seed.Rounds(usual, long)
}

// A counter as the side effect, and a kill at every point of its way: intent,
// decision, copy, running, effect, result. It counts once at most, nothing of it
// is left soon after, and the model is told that the outcome is unknown.
func TestFault_F_CRASH_09_CounterAtEveryPoint(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	points := []struct {
		name  string
		least int // effects
		most  int
	}{{"afterToolIntent", 0, 0}, {"beforeApproval", 0, 0}, {"afterApproval", 0, 1}, {"afterUndoKept", 0, 0}, {"running", 1, 1},
		{"beforeToolResult", 1, 1}}
	counted := map[string]int{}
	var slowest time.Duration
	for i := range loops(t, 36, 102) {
		p := points[i%len(points)]
		counter := "counter" + strconv.Itoa(i)
		command := "echo x >> " + counter
		if p.name == "running" {
			command += "; echo $$ > pid" + strconv.Itoa(i) + "; sleep 600"
			g.Up("")
		} else {
			g.Up(p.name)
		}
		g.Say("run:" + command)
		if p.name != "afterToolIntent" {
			_ = g.Resolve(g.Ask().ID, "once")
		}
		if p.name == "running" {
			pid := pidIn(g, "pid"+strconv.Itoa(i))
			g.Kill()
			begin := time.Now()
			gone(g, pid)
			slowest = max(slowest, time.Since(begin))
		} else {
			g.Died()
		}
		g.Up("")
		msgs := g.Settled(gatewaytest.MainKey)[gatewaytest.MainKey]
		last := msgs[len(msgs)-1]
		if last.Role != protocol.MessageToolResult || !last.IsError || !strings.Contains(last.Text(), "Unknown") {
			t.Fatalf("round %d, %s: the model is told %q", i, p.name, last.Text())
		}
		n := strings.Count(g.Canary(counter), "x")
		if counted[p.name] += n; n < p.least || n > p.most {
			t.Errorf("round %d, %s: it counted %d times", i, p.name, n)
		}
		_ = g.Client.Close()
		g.Kill()
	}
	t.Logf("counted %v; the slowest children were gone after %v", counted, slowest)
	if slowest > 5*time.Second { // two seconds, and what a busy machine adds
		t.Errorf("children lived on for %v", slowest)
	}
}

// Neither our own command line and variables nor those of a command hold a
// secret, and a crash writes no memory to disk.
func TestSec_A_SEC_09_NothingInTheProcessList(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	g.Up("")
	leaveRunning(g)
	token, err := os.ReadFile(g.Dir.Token())
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{strings.TrimSpace(string(token)), "sk-test"}
	looked := 0
	for _, name := range []string{"cmdline", "environ"} {
		files, _ := filepath.Glob("/proc/[0-9]*/" + name)
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				continue // it ended, or is somebody else's
			}
			looked++
			for _, s := range secrets {
				if strings.Contains(string(raw), s) {
					t.Errorf("%s holds a secret", f)
				}
			}
		}
	}
	if looked == 0 {
		t.Skip("this system does not show processes under /proc")
	}
}

func TestSec_A_SEC_10_NoDumps(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	g.Up("")
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(g.Cmd.Process.Pid) + "/limits")
	if err != nil {
		t.Skip("this system does not show limits under /proc")
	}
	if !regexp.MustCompile(`(?m)^Max core file size +0 +0 `).Match(raw) {
		t.Errorf("%s", raw)
	}
}

// What surfaces get of a result beside its text never reaches a model, neither in
// the turn nor when it is sent again with later ones.
func TestDetailsStayAtHome(t *testing.T) {
	g := gatewaytest.NewGuarded(t)
	g.Up("")
	for range 2 {
		if said, d := run(g, "echo hello > out"); d["undo"] != "kept" || d["sandbox"] == nil {
			t.Fatalf("%v, %s", d, said)
		}
	}
	g.Mu.Lock()
	defer g.Mu.Unlock()
	sent := g.Sent.String()
	for _, name := range []string{"durationMs", "exitCode", `"undo`, `undo\"`, "confined\""} {
		if strings.Contains(sent, name) {
			t.Errorf("the model was given %s", name)
		}
	}
	if strings.Count(sent, "tool_call_id") < 3 {
		t.Error("no result was sent again, so nothing was tested")
	}
}
