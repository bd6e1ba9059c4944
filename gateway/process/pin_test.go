//go:build linux

package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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
			out := printed(t, p, "ready\n")
			if err := exchange(script, evil); err != nil {
				t.Fatal(err)
			}
			if err := p.Write([]byte("\n")); err != nil {
				t.Fatal(err)
			}
			_, all := finished(t, p)
			out = strings.TrimPrefix(all, "ready\n")
			want := strings.ReplaceAll(c.want, "$PWD", dir)
			if how == "the folder" { // what lay beside it is gone with its folder, or is elsewhere
				if strings.Contains(out, "pwned") {
					t.Errorf("%s, %s: %q", c.text, how, out)
				}
				continue
			}
			refused := how != "not at all" && (strings.Contains(out, "is no longer what was approved") || how == "a link" && strings.Contains(out, "EINVAL"))
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
