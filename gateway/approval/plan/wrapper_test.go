package plan

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// corpus is wrappers around pwned, in every form of option that they take.
func corpus() []string {
	var out []string
	around := func(prefixes ...string) {
		for _, p := range prefixes {
			for _, inner := range []string{"pwned", "pwned -x", "./pwned", "'pwned'", "sh -c pwned"} {
				out = append(out, p+" "+inner)
			}
		}
	}
	around("env", "env --", "env A=b", "env -i", "env -", "env -u A", "env -uA", "env --unset=A", "env -C /", "env --chdir=/", "env -S",
		"env -S'a b'", "env --split-string=x", "env -vS", "env LANG=C", "env -0",
		"nice", "nice -n 1", "nice -n1", "nice -1", "nice --adjustment=1", "nice --adjustment 1", "nice --adj=1", "nice -n", "nohup", "nohup --",
		"nohup --help",
		"timeout 1", "timeout -s 9 1", "timeout -s9 1", "timeout --signal=9 1", "timeout --signal 9 1", "timeout --sig=9 1", "timeout -k 1 1",
		"timeout -vk1 1", "timeout --foreground 1", "timeout 1 --",
		"stdbuf -oL", "stdbuf -o L", "stdbuf --output=L", "stdbuf --output L", "stdbuf -i0 -oL -eL", "stdbuf --out=L", "setsid", "setsid -w",
		"setsid -cfw", "setsid --wait", "setsid --wa",
		"flock x", "flock -n x", "flock -c x", "flock x -c", "flock -w 1 x", "flock --wait=1 x", "flock 9", "time", "time -p", "time -f %e",
		"time -o x", "/usr/bin/time",
		"xargs", "xargs -0", "xargs -n 1", "xargs -I{}", "xargs -a x", "xargs --arg-file=x", "xargs -P0", "ionice", "ionice -c 3", "ionice -c3",
		"ionice --class=3", "taskset 1", "taskset -c 1", "taskset --cpu-list 1", "taskset -p 1",
		"chrt 1", "chrt -f 1", "chrt --fifo 1", "chrt -p 1", "setarch x86_64", "setarch -R", "linux64", "sudo", "sudo -u x", "sudo -E", "sudo --",
		"doas", "doas -u x", "su -c", "su x -c", "chroot /", "unshare -r", "nsenter -t 1 -m",
		"ssh host", "ssh -oProxyCommand=pwned", "busybox", "busybox env", "toybox", "strace", "strace -f", "strace -o x", "gdb --args", "gdb -ex",
		"ltrace", "systemd-run", "systemd-run --scope", "at now", "batch", "unbuffer", "expect -c", "script -c", "script -qc",
		"socat - EXEC:", "watch", "watch -n1", "parallel", "parallel :::", "find . -exec", "find . -execdir", "find . -ok", "find . -okdir",
		"find -exec", "find / -name x -exec", "exec", "command", "exec -a x", "command -p", "builtin", "eval",
		"/lib64/ld-linux-x86-64.so.2", "vim -c", "less +!", "man -P", "tar --checkpoint-action=exec=pwned -cf x", "rsync -e pwned",
		"git -c alias.x=!pwned x", "awk 'BEGIN{system(\"pwned\")}'", "sed e")
	return out
}

func TestSec_A_EXEC_05_Wrappers(t *testing.T) {
	dir := canaries(t)
	r := New(Options{Own: []string{dir}, Confined: true, Home: t.TempDir()})
	all := corpus()
	if len(all) < 400 {
		t.Errorf("%d cases", len(all))
	}
	resolved := 0
	for _, command := range all {
		p := plan(t, r, command, dir)
		if p.Lasting {
			t.Errorf("%q can be remembered", command)
		}
		if p.Known {
			t.Errorf("%q is known: %q", command, names(p))
		}
		if slices.ContainsFunc(p.Programs, func(pr Program) bool { return pr.Path == filepath.Join(mustReal(t, dir), "pwned") }) {
			resolved++
		}
	}
	t.Logf("%d cases, in %d of them pwned itself was found", len(all), resolved)
	if resolved < len(all)/4 {
		t.Error("wrappers are not looked into")
	}
}

func mustReal(t *testing.T, dir string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// TestWrapped: what simple wrappers start is found exactly.
func TestWrapped(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	for command, want := range map[string]string{
		"env -- ls -l":                         "env ls",
		"nice -n 5 ls -n":                      "nice ls",
		"timeout -k 1 -s TERM 5 ls":            "timeout ls",
		"timeout --signal=9 --foreground 5 ls": "timeout ls",
		"stdbuf -oL -eL cat":                   "stdbuf cat",
		"setsid -w nohup ls":                   "setsid nohup ls",
		"nice env LANG=C timeout 1 ls":         "nice env timeout ls",
		"flock -n lock ls":                     "flock ls",
	} {
		if p := plan(t, r, command, dir); names(p) != want || !p.Known || p.Lasting {
			t.Errorf("%q: %q, known %v, lasting %v, %v", command, names(p), p.Known, p.Lasting, p.Doubts)
		}
	}
	for _, command := range []string{"timeout ls", "nice -z ls", "env -i ls", "timeout 5 -- ls", "nice -5 ls", "stdbuf --out=L ls",
		"flock lock -c ls", "taskset -p 1 ls", "xargs ls"} {
		if p := plan(t, r, command, dir); p.Known {
			t.Errorf("%q is known: %q", command, strings.Join([]string{names(p)}, " "))
		}
	}
}
