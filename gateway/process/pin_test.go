//go:build linux

package process_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hearth-assistant/hearth/gateway/process"
)

// pinning is a keeper where files can be pinned.
func pinning(t *testing.T) *process.Keeper {
	t.Helper()
	k := keeper(t, process.Options{})
	if !k.Pins(t.Context()) {
		if os.Getenv("HEARTH_REQUIRE_SANDBOX") != "" {
			t.Fatal("scripts cannot be kept as they were approved here")
		}
		t.Skip("scripts cannot be kept as they were approved here")
	}
	return k
}

// house is a folder with scripts and what lies beside them.
func house(t *testing.T) string {
	t.Helper()
	dir := folder(t)
	for name, text := range map[string]string{
		"a.sh":      "#!/bin/sh\necho original $0 \"$@\"\n. ./beside.sh\n",
		"beside.sh": "echo beside\n",
		"sub/x":     "",
		"a.py":      "import sys, helper\nprint('original', sys.argv[0], __file__, helper.x)\n",
		"helper.py": "x = 'beside'\n",
		"a.js":      "console.log('original', require('path').basename(__filename), require('./h.js').x)\n",
		"h.js":      "exports.x = 'beside'\n",
		"a.pl":      "print \"original $0\\n\";\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func copyOf(t *testing.T, name string) process.Copy {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return process.Copy{Path: name, Data: b}
}

// exchanges are the ways to put another content where a name leads.
var exchanges = map[string]func(name, evil string) error{
	"not at all": func(string, string) error { return nil },
	"in place": func(name, evil string) error {
		b, err := os.ReadFile(evil)
		if err == nil {
			err = os.WriteFile(name, b, 0o755)
		}
		return err
	},
	"renamed over": func(name, evil string) error { return os.Rename(evil, name) },
	"a link": func(name, evil string) error {
		if err := os.Remove(name); err != nil {
			return err
		}
		return os.Symlink(evil, name)
	},
	"the folder": func(name, evil string) error {
		dir := filepath.Dir(name)
		if err := os.Rename(dir, dir+".was"); err != nil {
			return err
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		evil = filepath.Join(dir+".was", filepath.Base(evil))
		b, err := os.ReadFile(evil)
		if err == nil {
			err = os.Link(evil, name)
		}
		if err == nil { // and in the folder that a process may stand in
			err = os.WriteFile(filepath.Join(dir+".was", filepath.Base(name)), b, 0o755)
		}
		return err
	},
}

// Whoever exchanges a script while the command that runs it is under way, in
// whatever manner, the one that was approved runs, knows its own name and finds
// what lies beside it. The window is as wide as can be: the command waits until
// the exchange is over.
func TestSec_A_EXEC_15_ExchangedBeforeItIsRead(t *testing.T) {
	k := pinning(t)
	for _, c := range []struct{ needs, script, text, want string }{
		{"sh", "a.sh", "sh a.sh 1", "original a.sh 1\nbeside\n"},
		{"sh", "a.sh", "sh ./a.sh 1 && echo ok", "original ./a.sh 1\nbeside\nok\n"},
		{"bash", "a.sh", "bash $PWD/a.sh", "original $PWD/a.sh\nbeside\n"},
		{"bash", "a.sh", "cd sub && bash ../a.sh; true", "original ../a.sh\n"},
		{"sh", "a.sh", "./a.sh 1", "original ./a.sh 1\nbeside\n"},
		{"sh", "a.sh", "exec $PWD/a.sh", "original $PWD/a.sh\nbeside\n"},
		{"sh", "a.sh", "timeout 50 sh a.sh", "original a.sh\nbeside\n"},
		{"sh", "a.sh", "sh < a.sh", "original sh\nbeside\n"},
		{"sh", "a.sh", ". ./a.sh", "original /bin/sh\nbeside\n"},
		{"python3", "a.py", "python3 a.py", "original a.py $PWD/a.py beside\n"},
		{"python3", "a.py", "cd sub && timeout 50 python3 ../a.py", "original ../a.py $PWD/sub/../a.py beside\n"},
		{"python3", "a.py", "python3 $PWD/a.py", "original $PWD/a.py $PWD/a.py beside\n"},
		{"node", "a.js", "node a.js", "original a.js beside\n"},
		{"node", "a.js", "node $PWD/a.js", "original a.js beside\n"},
		{"perl", "a.pl", "perl a.pl", "original a.pl\n"},
	} {
		program := found(c.needs)
		if program == "" {
			t.Logf("%s: there is none here", c.needs)
			continue
		}
		for how, exchange := range exchanges {
			dir := house(t)
			script, evil := filepath.Join(dir, c.script), filepath.Join(dir, "evil")
			write(t, evil, "#!"+program+"\n"+pwned(c.script))
			text := strings.Replace(c.text, "$PWD", dir, 1)
			s := sh(t, "echo ready; read x; "+text)
			s.Dir, s.Input, s.Copies, s.Pin = dir, true, []process.Copy{copyOf(t, script)}, true
			s.Env = []string{"PATH=" + filepath.Dir(program) + ":/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1", "HOME=" + dir}
			p := run(t, k, s)
			_ = printed(t, p, "ready\n")
			if err := exchange(script, evil); err != nil {
				t.Fatal(err)
			}
			if err := p.Write([]byte("\n")); err != nil {
				t.Fatal(err)
			}
			_, all := finished(t, p)
			out := strings.TrimPrefix(all, "ready\n")
			want := strings.ReplaceAll(c.want, "$PWD", dir)
			if how == "the folder" { // what lay beside it is gone with its folder, or is elsewhere
				if strings.Contains(out, "pwned") {
					t.Errorf("%s, %s: %q", c.text, how, out)
				}
				continue
			}
			refused := how != "not at all" && (strings.Contains(out, "is no longer what was approved") || how == "a link" &&
				strings.Contains(out, "EINVAL"))
			if strings.Contains(out, "pwned") || !strings.HasPrefix(out, want) && !refused {
				t.Errorf("%s, %s: %q, want %q", c.text, how, out, want)
			}
		}
	}
}

func pwned(script string) string {
	if strings.HasSuffix(script, ".js") {
		return "console.log('pwned')\n"
	}
	if strings.HasSuffix(script, ".py") {
		return "print('pwned')\n"
	}
	if strings.HasSuffix(script, ".pl") {
		return "print 'pwned'\n"
	}
	return "echo pwned\n"
}

// found is where a program of the system is, "" when there is none.
func found(name string) string {
	for _, dir := range []string{"/usr/bin", "/bin", "/usr/local/bin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	return ""
}

// A file that others exchange all the time: a start of it is a start of what was
// approved, or none.
func TestSec_A_EXEC_15_ExchangedWhileItStarts(t *testing.T) {
	k := pinning(t)
	rounds := "150"
	if testing.Short() || raceEnabled {
		rounds = "20"
	}
	dirname, echo := found("dirname"), found("echo")
	for name, files := range map[string][2]string{
		"script":            {"#!/bin/sh\necho ok\n", "#!/bin/sh\necho pwned\n"},
		"other interpreter": {"#!/bin/sh\necho ok\n", "#!/usr/bin/env -S sh -c 'echo pwned'\n"},
		"other argument":    {"#!/bin/sh -e\necho ok\n", "#!/bin/sh -s\necho pwned\n"},
		"program":           {contentOf(t, dirname), contentOf(t, echo)},
	} {
		dir := folder(t)
		it, good, evil := filepath.Join(dir, "it"), filepath.Join(dir, "good"), filepath.Join(dir, "evil")
		write(t, it, files[0])
		s := sh(t, "./it ok/pwned; read x; i=0; while [ $i -lt "+rounds+" ]; do ./it ok/pwned; i=$((i+1)); done; exit 0")
		s.Dir, s.Input, s.Copies, s.Pin = dir, true, []process.Copy{copyOf(t, it)}, true
		p := run(t, k, s)
		_ = printed(t, p, "ok\n") // it runs as long as nobody exchanges it
		if err := p.Write([]byte("\n")); err != nil {
			t.Fatal(err)
		}
		swaps := 0
		for from := [2]string{evil, good}; !p.Ended(); swaps++ {
			next := from[swaps%2]
			write(t, next, files[1-swaps%2])
			if err := os.Rename(next, it); err != nil {
				t.Fatal(err)
			}
		}
		_, out := finished(t, p)
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "pwned") || strings.HasPrefix(line, "ok/pwned") {
				t.Fatalf("%s: the other content ran: %q", name, line)
			}
		}
		t.Logf("%s: %d exchanges, %d ran, %d were refused", name, swaps, strings.Count(out, "ok\n"), strings.Count(out, "hearth: "))
	}
}

// Whatever signals come to who answers while it answers, a script is read, and never the
// command's own input in its place.
func TestSec_A_EXEC_15_AnswersAreInterrupted(t *testing.T) {
	k := pinning(t)
	const rounds = 300
	dir := folder(t)
	it := filepath.Join(dir, "it")
	write(t, it, "#!/bin/sh\necho ok\n")
	s := sh(t, fmt.Sprintf("echo $PPID; i=0; while [ $i -lt %d ]; do sh it; i=$((i+1)); done", rounds))
	s.Dir, s.Input, s.Copies, s.Pin = dir, true, []process.Copy{copyOf(t, it)}, true
	p := run(t, k, s)
	first, _, _ := strings.Cut(printed(t, p, "ok\n"), "\n")
	guardian, err := strconv.Atoi(first)
	if err != nil || guardian < 2 {
		t.Fatalf("who answers is %q: %v", first, err)
	}
	for late := time.Now().Add(time.Minute); !p.Ended(); {
		if time.Now().After(late) {
			t.Fatal("a script does not end: it reads something else")
		}
		threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", guardian))
		for _, thread := range threads {
			tid, _ := strconv.Atoi(thread.Name())
			_ = unix.Tgkill(guardian, tid, unix.SIGURG)
		}
	}
	if _, out := finished(t, p); strings.Count(out, "ok\n") != rounds {
		t.Errorf("of %d scripts ran %d: %q", rounds, strings.Count(out, "ok\n"), strings.ReplaceAll(out, "ok\n", ""))
	}
}

func contentOf(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A link by which a script is known leads where it led, for programs that
// follow links themselves too; and a command may still do with the file itself
// what it likes.
func TestPinnedFilesAreStillFiles(t *testing.T) {
	k := pinning(t)
	for text, want := range map[string]string{
		"sh to.sh":                               "original to.sh\n",
		"./to.sh":                                "original ./to.sh\n",
		"sh d/a.sh":                              "original d/a.sh\n",
		"readlink to.sh":                         "$PWD/a.sh\n",
		"readlink -f d/a.sh":                     "$PWD/a.sh\n",
		"cp a.sh b.sh && sh b.sh":                "original b.sh\n",
		"tar cf - a.sh | tar tf -":               "a.sh\n",
		"echo echo new > a.sh; cat a.sh":         "#!/bin/sh\necho original $0 \"$@\"\n",
		"exec 9< a.sh; readlink /proc/self/fd/9": "$PWD/a.sh\n",
	} {
		dir := house(t)
		for at, to := range map[string]string{"to.sh": "a.sh", "d": "."} {
			if err := os.Symlink(to, filepath.Join(dir, at)); err != nil {
				t.Fatal(err)
			}
		}
		c := copyOf(t, filepath.Join(dir, "a.sh"))
		c.Named = []string{filepath.Join(dir, "to.sh"), filepath.Join(dir, "d", "a.sh")}
		s := sh(t, text)
		s.Dir, s.Copies, s.Pin = dir, []process.Copy{c}, true
		if _, out := finished(t, run(t, k, s)); !strings.HasPrefix(out, strings.ReplaceAll(want, "$PWD", dir)) {
			t.Errorf("%s: %q, want %q", text, out, want)
		}
	}
}

// Where nothing can be pinned, the file itself runs, and not when it is another
// one by then.
func TestSec_A_EXEC_15_ALastLook(t *testing.T) {
	k := keeper(t, process.Options{})
	dir := house(t)
	script := filepath.Join(dir, "a.sh")
	s := sh(t, "sh a.sh 1")
	s.Dir, s.Copies = dir, []process.Copy{copyOf(t, script)}
	if exit, out := finished(t, run(t, k, s)); !exit.OK() || out != "original a.sh 1\nbeside\n" {
		t.Errorf("%+v %q", exit, out)
	}
	write(t, script, "echo pwned\n")
	if p, err := k.Start(t.Context(), s); err == nil || !strings.Contains(err.Error(), "no longer what was approved") {
		t.Errorf("%v %v", p, err)
	}
}

// A process that stands still for its person, or is ended, is not disturbed.
func TestPinnedStopAndGo(t *testing.T) {
	k := pinning(t)
	dir := house(t)
	s := sh(t, "(kill -STOP $(sh -c 'echo $PPID'); ./a.sh) & p=$!; until grep -q 'State:.T' /proc/$p/status; do :; done; kill -CONT $p; "+
		"wait $p; ./none; ./a.sh 2; (trap 'echo got' USR1; kill -USR1 $(sh -c 'echo $PPID'))")
	s.Dir, s.Copies, s.Pin = dir, []process.Copy{copyOf(t, filepath.Join(dir, "a.sh"))}, true
	if _, out := finished(t, run(t, k, s)); !strings.Contains(out, "original ./a.sh\nbeside\n") ||
		!strings.Contains(out, "original ./a.sh 2\nbeside\n") || !strings.HasSuffix(out, "got\n") {
		t.Errorf("%q", out)
	}
}

// A guardian answers for the program that it starts, so its own memory must not be
// collected meanwhile: a collection waits for the thread that starts, that thread for
// the answer, and the collection holds up who would answer.
func TestFault_F_CRASH_23_ACollectionWhileACommandStarts(t *testing.T) {
	pinning(t)
	k := keeper(t, process.Options{Helper: helper(busyArg)})
	dir := house(t)
	for range 40 {
		s := sh(t, "./a.sh")
		s.Dir, s.Copies, s.Pin = dir, []process.Copy{copyOf(t, filepath.Join(dir, "a.sh"))}, true
		if _, out := finished(t, run(t, k, s)); !strings.Contains(out, "original ./a.sh\nbeside\n") {
			t.Fatalf("%q", out)
		}
	}
}

// A guardian that does not answer is ended, and who asked is told so in time.
func TestFault_F_CRASH_23_AGuardianThatHangs(t *testing.T) {
	k := keeper(t, process.Options{Helper: helper(stuckArg)})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if p, err := k.Start(ctx, sh(t, "echo never")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v %v", p, err)
	}
}
