package shell_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/sandbox"
)

func TestExec(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		args   args
		want   string
		status string
		code   int
	}{
		{args{"command": "echo out; echo err >&2"}, "out\nerr", "completed", 0},
		{args{"command": "true"}, "[no output]", "completed", 0},
		{args{"command": "echo x; exit 7"}, "x\n\n[exit code 7]", "failed", 7},
		{args{"command": "pwd"}, b.workspace, "completed", 0},
		{args{"command": "printf '\\033[31mred\\033[0m\\r\\n10%%\\r20%%\\n'"}, "red\n20%", "completed", 0},
		{args{"command": "head -c 1000 /dev/zero"}, "[1000 bytes that are not text]", "completed", 0},
		{args{"command": "echo $FOO", "env": args{"FOO": "bar"}}, "bar", "completed", 0},
		{args{"command": "cat; echo end"}, "end", "completed", 0},
		{args{"command": "tty; stty size", "pty": true}, "40 120", "completed", 0},
		{args{"command": "sleep 60", "timeout": 0.2}, "[ended: its time was over after", "failed", 0},
		{args{"command": "seq 1 20000"}, "bytes in the middle are not shown", "completed", 0},
	} {
		text, d, err := b.exec(c.args)
		if err != nil || !strings.Contains(text, c.want) || d.Status != c.status || c.code != 0 && (d.ExitCode == nil || *d.ExitCode != c.code) {
			t.Errorf("%v: %.300q %+v %v", c.args, text, d, err)
		}
		if d.Cwd != b.workspace || d.PID == 0 || sandbox.Probe().Confined && d.Sandbox != "confined" {
			t.Errorf("%v: %+v", c.args, d)
		}
	}
	if left := b.o.Keeper.List(""); len(left) != 0 {
		t.Errorf("%+v", left)
	}
	for want, a := range map[string]args{
		"command is missing":        {"command": " "},
		"is not there":              {"command": "true", "workdir": "none"},
		"feature nodes is switched": {"command": "true", "host": "node"},
		"must be a bool":            {"command": "true", "pty": "yes"},
		"holds a NUL":               {"command": "echo \x00"},
		"longer than 16 KiB":        {"command": "echo " + strings.Repeat("x", 20<<10)},
	} {
		if _, _, err := b.exec(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100v: %v", a, err)
		}
	}
}

// A run that is stopped stops its command.
func TestStop(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	c := b.call("exec", args{"command": "echo on; sleep 100"})
	c.Progress = func(text string) {
		if strings.Contains(text, "on") {
			cancel()
		}
	}
	e, _ := b.tools.Lookup("exec")
	res, err := e.Run(ctx, c)
	if err != nil || !strings.Contains(res.Text, "on\n\n[stopped") {
		t.Errorf("%q %v", res.Text, err)
	}
}

func TestBackground(t *testing.T) {
	b := newBench(t)
	text, d, err := b.exec(args{"command": "while read x; do echo got $x; done; echo bye", "background": true})
	if err != nil || d.Status != "running" || !strings.Contains(text, d.SessionID) {
		t.Fatalf("%q %+v %v", text, d, err)
	}
	id := d.SessionID
	b.must(b.run("process", args{"action": "list"}))(id + "  running")
	b.must(b.run("process", args{"action": "write", "sessionId": id, "data": "one\n"}))("got one")
	b.must(b.run("process", args{"action": "poll", "sessionId": id}))("(no new output)\n\n[still running]")
	b.must(b.run("process", args{"action": "write", "sessionId": id, "data": "two\n", "eof": true}))("")
	if note := <-b.ended; !strings.HasPrefix(note, id) || !strings.HasSuffix(note, "bye") {
		t.Errorf("%q", note)
	}
	b.must(b.run("process", args{"action": "log", "sessionId": id}))("[lines 0 to 3 of 3]\ngot one\ngot two\nbye\n\n[completed")
	b.must(b.run("process", args{"action": "log", "sessionId": id, "offset": 1, "limit": 1}))("[lines 1 to 2 of 3]\ngot two\n\n")
	b.must(b.run("process", args{"action": "clear", "sessionId": id}))("Forgotten")
	b.must(b.run("process", args{"action": "list"}))("Nothing runs")

	// A command that takes long goes on by itself.
	text, d, err = b.exec(args{"command": "echo first; sleep 100", "yieldMs": 300})
	if err != nil || !strings.HasPrefix(text, "first\n\n[still running: session "+d.SessionID) {
		t.Errorf("%q %v", text, err)
	}
	if _, _, err := b.run("process", args{"action": "write", "sessionId": d.SessionID, "data": "x"}); err == nil ||
		!strings.Contains(err.Error(), "background: true") {
		t.Error(err)
	}
	if d := b.must(b.run("process", args{"action": "kill", "sessionId": d.SessionID}))("[stopped]"); d.Status != "killed" {
		t.Errorf("%+v", d)
	}
	b.must(b.run("process", args{"action": "remove", "sessionId": d.SessionID}))("Forgotten")
	<-b.ended
}

func TestKeysInATerminal(t *testing.T) {
	b := newBench(t)
	_, d, err := b.exec(args{"command": "read x; echo got:$x; exec cat", "background": true, "pty": true})
	if err != nil {
		t.Fatal(err)
	}
	id := d.SessionID
	b.must(b.run("process", args{"action": "send-keys", "sessionId": id, "keys": []string{"a", "C-h"}, "literal": "hi"}))
	before := len(b.wishes)
	if _, _, err := b.run("process", args{"action": "send-keys", "sessionId": id, "keys": []string{"nope"}}); err == nil {
		t.Error("an unknown key")
	}
	b.must(b.run("process", args{"action": "send-keys", "sessionId": id, "literal": "hi"}))("")
	b.must(b.run("process", args{"action": "submit", "sessionId": id}))("")
	b.until(id, "got:hi")
	if len(b.wishes) != before+2 || b.wishes[before].Input != "hi" || b.wishes[before+1].Input != "\r" || b.wishes[before].Into.ID != id {
		t.Errorf("%+v", b.wishes[before:])
	}
	b.must(b.run("process", args{"action": "paste", "sessionId": id, "text": "x\x1b[201~y"}))("")
	b.until(id, "x[201~y")
	before = len(b.wishes)
	b.must(b.run("process", args{"action": "send-keys", "sessionId": id, "keys": []string{"C-c"}}))("")
	if len(b.wishes) != before {
		t.Error("asked about Ctrl-C")
	}
	b.answer = nil
	<-b.ended
}

// Others' sessions see nothing of it.
func TestOtherSession(t *testing.T) {
	b := newBench(t)
	_, d, err := b.exec(args{"command": "sleep 100", "background": true})
	if err != nil {
		t.Fatal(err)
	}
	c := b.call("process", args{"action": "kill", "sessionId": d.SessionID})
	c.SessionKey = "agent:main:other"
	p, _ := b.tools.Lookup("process")
	if _, err := p.Run(t.Context(), c); err == nil {
		t.Error("another session stopped it")
	}
	c.Args = []byte(`{"action":"list"}`)
	if res, err := p.Run(t.Context(), c); err != nil || !strings.Contains(res.Text, "Nothing runs") {
		t.Errorf("%q %v", res.Text, err)
	}
	b.must(b.run("process", args{"action": "kill", "sessionId": d.SessionID}))("stopped")
	<-b.ended
}

// Progress is told now and then, however much is printed.
func TestProgressIsThrottled(t *testing.T) {
	b := newBench(t)
	c := b.call("exec", args{"command": "while :; do echo x; done", "timeout": 1})
	n, longest := 0, 0
	c.Progress = func(text string) { n++; longest = max(longest, len(text)) }
	e, _ := b.tools.Lookup("exec")
	begin := time.Now()
	if _, err := e.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if most := int(time.Since(begin)/(150*time.Millisecond)) + 1; n == 0 || n > most || longest > 5<<10 {
		t.Errorf("%d times, at the most %d bytes", n, longest)
	}
}
