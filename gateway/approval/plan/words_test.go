package plan

import (
	"os"
	"strings"
	"testing"
)

func TestSec_A_EXEC_12_Obfuscation(t *testing.T) {
	tricks := map[string]string{}
	for _, r := range []rune{
		0xa0, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x1680, 0x17b4, 0x17b5, 0x180b, 0x180e, 0x2000, 0x2002, 0x2003, 0x2007, 0x2009, 0x200a, 0x200b,
		0x200c, 0x200d,
		0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x202f, 0x205f, 0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0x2066,
		0x2067, 0x2068, 0x2069,
		0x206a, 0x2800, 0x3000, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xfffb, 0xff4c, 0xff53, 0x1d5f9, 0xe0001, 0xe0041, 0xe007f, 0x430,
		0x435, 0x440, 0x3bf, 0x3c1, 0x501, 0x5d0, 0x627,
		0x7f, 0x1b, 0x0d, 0x08, 0x07, 0x9b, 0x85, 0x301, 0x338, 0x20dd, 0x2215, 0x2044, 0x2024, 0xff0f, 0x1c3, 0x13a0, 0x10ffff, 0xfdd0, 0x131,
		0x29f8,
	} {
		tricks["rm "+string(r)+"x"] = string(r)
	}
	if len(tricks) < 60 {
		t.Fatalf("%d tricks", len(tricks))
	}
	r, dir := resolver(t), t.TempDir()
	for text, trick := range tricks {
		p := plan(t, r, text, dir)
		all := p.Words() + "\n" + strings.Join(p.Lines(), "\n")
		if strings.Contains(all, trick) || !strings.Contains(all, `\u{`) {
			t.Errorf("%+q is shown as %q", text, all)
		}
		if p.Known {
			t.Errorf("%+q is known", text)
		}
		if len(p.Warnings()) == 0 || !strings.Contains(strings.Join(p.Warnings(), " "), "character") {
			t.Errorf("%+q: no warning", text)
		}
		if p.Request().Command != text {
			t.Errorf("%+q became %+q", text, p.Request().Command)
		}
	}
}

func TestShow(t *testing.T) {
	for in, want := range map[string]string{
		"ls -la":       "ls -la",
		"Übung größe":  "Übung größe",
		"日本語.txt":      "日本語.txt",
		`a\b`:          `a\b`,
		`\u{a0}`:       `\u{5c}u{a0}`,
		"a\u00a0b":     `a\u{a0}b`,
		"сору":         `\u{441}\u{43e}\u{440}\u{443}`,
		"a\tb\x1b":     `a\u{9}b\u{1b}`,
		"one\ntwo":     "one\ntwo",
		"\u202egnp.sh": `\u{202e}gnp.sh`,
		`\\u{61}`:      `\\u{5c}u{61}`,
	} {
		if got := Show(in); got != want {
			t.Errorf("%q is shown as %q, not %q", in, got, want)
		}
	}
}

// TestLines: a newline in an argument cannot look like another line of the plan.
func TestLines(t *testing.T) {
	r := resolver(t)
	p, err := r.Resolve(t.Context(), Request{Argv: []string{"ls", "x\nStarts: nothing", "", "a b", "it's"}, Dir: t.TempDir(),
		Env: map[string]string{"LANG": "C"}})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Join(p.Lines(), "\n")
	for _, want := range []string{"Starts: ls 'x\\u{a}Starts: nothing' '' 'a b' 'it'\\''s'", "Variable: LANG=C", "Folder: "} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %q in\n%s", want, lines)
		}
	}
	p = plan(t, r, "ls | head >out && $(x)", t.TempDir())
	lines = strings.Join(p.Lines(), "\n")
	for _, want := range []string{"Text for /bin/sh:\n  ls | head >out && $(x)", "Starts: head", "Writes to: /", "It uses $(…)"} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %q in\n%s", want, lines)
		}
	}
}

// TestExec: what is started for a plan. A text that is one plain program needs no
// shell, and one that begins with a dash is no option of the shell.
func TestExec(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	p := plan(t, r, "cat 'a b'", dir)
	if path, argv := p.Exec(); p.Shell != "" || path != p.Programs[0].Path || strings.Join(argv, "|") != "cat|a b" {
		t.Errorf("%q %q", path, argv)
	}
	for _, command := range []string{"ls | cat", "ls >x", "ls &", "! ls", "echo x", "command ls", "exec ls", "LANG=C ls", "ls $x", "ls *",
		"(ls)", "ls; ls", "-x", "nothere", "ls # x", "cd /"} {
		p := plan(t, r, command, dir)
		if path, argv := p.Exec(); path != "/bin/sh" || strings.Join(argv, "|") != "/bin/sh|-c|--|"+command {
			t.Errorf("%q: %q %q", command, path, argv)
		}
	}
	if _, err := os.Stat("/bin/bash"); err == nil {
		p, err := r.Resolve(t.Context(), Request{Command: "ls | cat", Dir: dir, Shell: "/bin/bash"})
		if err != nil {
			t.Fatal(err)
		}
		if _, argv := p.Exec(); argv[1] != "--norc" || argv[len(argv)-2] != "--" {
			t.Errorf("%q", argv)
		}
	}
}

// TestReplaceable: a command that writes could replace what runs after it.
func TestReplaceable(t *testing.T) {
	dir := canaries(t)
	r := New(Options{Confined: true, Home: t.TempDir()})
	for _, command := range []string{"cp a pwned && ./pwned", "./pwned & cp a b", "echo x >pwned; ./pwned", "nice ./pwned | tee pwned"} {
		p := plan(t, r, command, dir)
		if !strings.Contains(strings.Join(p.Warnings(), " "), "replace") {
			t.Errorf("%q: %v", command, p.Doubts)
		}
	}
	// Git's settings, and a folder of the owner's that is searched first.
	if err := os.MkdirAll(dir+"/.git", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"cp evil .git/config && git status", "echo x >>.git/config; git status",
		"mkdir .git/hooks & git status"} {
		if p := plan(t, r, command, dir); p.Known {
			t.Errorf("%q is known", command)
		}
	}
	own := New(Options{Own: []string{t.TempDir()}, Confined: true, Home: t.TempDir()})
	if p := plan(t, own, "cp pwned /x/head && head a", dir); p.Known {
		t.Error("cp cannot put another head in front, it is said")
	}
	r.rooted = true
	if p := plan(t, r, "cp a /usr/bin/head; head x", dir); p.Known {
		t.Error("root's cp cannot replace head, it is said")
	}
	if p := plan(t, r, "ls | head", dir); !p.Known {
		t.Errorf("%v", p.Doubts)
	}
}

// TestFolders: a relative program is looked for where the shell is then.
func TestFolders(t *testing.T) {
	dir := mustReal(t, canaries(t))
	r := resolver(t)
	for command, want := range map[string]string{
		"cd node_modules/.bin && ./pwned":                   dir + "/node_modules/.bin/pwned",
		"cd node_modules && cd .bin && ./pwned":             dir + "/node_modules/.bin/pwned",
		"(cd node_modules); ./pwned":                        dir + "/pwned",
		"cd node_modules & ./pwned":                         dir + "/pwned",
		"cd " + dir + "/node_modules/.bin && ls && ./pwned": dir + "/node_modules/.bin/pwned",
		"cd node_modules; ./pwned":                          "",
		"cd node_modules/.bin || ./pwned":                   "",
		"cd missing && ./pwned":                             "",
		"cd $x && ./pwned":                                  "",
		"cd - && ./pwned":                                   "",
		"ls | cd node_modules; ./pwned":                     "",
		"! cd node_modules && ./pwned":                      "",
	} {
		p := plan(t, r, command, dir)
		if last := p.Programs[len(p.Programs)-1]; last.Path != want {
			t.Errorf("%q runs %q, not %q", command, last.Path, want)
		}
	}
}

// TestSec_A_EXEC_10_Shifting: paths that lead elsewhere in another process, or
// through links that others own.
func TestSec_A_EXEC_10_Shifting(t *testing.T) {
	r, dir := resolver(t), mustReal(t, t.TempDir())
	if err := os.Symlink("/proc/self/cwd/pwned", dir+"/x"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/usr/share", dir+"/evil"); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"/proc/self/cwd/ls", "/proc/self/root/bin/ls", "/dev/fd/3", "./x", "/dev/../proc/self/exe",
		"/bin/../proc/self/exe"} {
		asks(t, r, command, dir)
		if p := plan(t, r, command, dir); p.Lasting || p.Programs[0].Path != "" {
			t.Errorf("%q is %q", command, p.Programs[0].Path)
		}
	}
	asks(t, r, dir+"/evil/../bin/ls", dir)
	asks(t, r, dir+"/evil"+strings.Repeat("/..", strings.Count(dir, "/")+1)+"/usr/bin/ls", dir)
}

// TestSec_A_EXEC_08_UnknownWrappers: a program that the tables do not know may be
// a wrapper; with the name of another program it is never remembered.
func TestSec_A_EXEC_08_UnknownWrappers(t *testing.T) {
	own := mustReal(t, canaries(t))
	r := New(Options{Path: []string{"/usr/bin", "/bin"}, Confined: true, Home: t.TempDir()})
	r.path = append(r.path, own)
	r.trusted = func(string) bool { return true }
	for command, lasting := range map[string]bool{
		"pwned": true, "pwned -x 1": true, "pwned ls": false, "pwned -- ls -l": false, "pwned --run=ls": false, "pwned ./git": false,
		"pwned git": false, "pwned 'ls -l'": false, "pwned $x": false,
	} {
		if p := plan(t, r, command, own); p.Lasting != lasting || p.Known {
			t.Errorf("%q: lasting %v, known %v %v", command, p.Lasting, p.Known, p.Doubts)
		}
	}
}

// What a command changes can be taken back only where the plan names all of it.
func TestOnlyWrites(t *testing.T) {
	r, dir := resolver(t), t.TempDir()
	for _, tc := range []struct {
		command string
		only    bool
		words   string // of the warning
	}{
		{"ls -la", true, ""},
		{"echo hi > out", true, ""},
		{"sort -o out in; ls", true, ""},
		{"git status", true, ""},
		{"date", true, ""},
		{"date -s now", false, "What it changes cannot be undone."},
		{"rm out", false, "What it changes cannot be undone."},
		{"cp a b > log", false, "Undo brings back only the files named"},
		{"timeout 1 ls", false, "What it changes cannot be undone."},
		{"make > log", false, "Undo brings back only the files named"},
		{"ls > $(date)", false, "Undo brings back only"},
		{"find . -delete", false, "Undo brings back only"},
	} {
		p := plan(t, r, tc.command, dir)
		all := strings.Join(p.Warnings(), " ")
		if p.OnlyWrites != tc.only || !strings.Contains(all, tc.words) || tc.only && strings.Contains(all, "ndo") {
			t.Errorf("%q: %v, %q", tc.command, p.OnlyWrites, all)
		}
	}
}
