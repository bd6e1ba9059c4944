package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSec_A_EXEC_17_StrangersAreNotKnown: programs that run what a project's files
// say have no end, so there is no list of them. What is not known is a stranger,
// and of a stranger nothing is remembered beyond the session (approval.Scopes).
func TestSec_A_EXEC_17_StrangersAreNotKnown(t *testing.T) {
	bin, dir := mustReal(t, t.TempDir()), mustReal(t, t.TempDir())
	r := New(Options{Path: []string{"/usr/bin"}, Confined: true, Home: t.TempDir()})
	r.path, r.trusted = append(r.path, bin), func(string) bool { return true }
	native, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Skip("no /bin/true here")
	}
	for _, command := range []string{
		"zig build", "dotnet run", "dart run", "turbo run build", "cabal run", "stack build", "dune build", "nim c x.nim", "qemu-x86_64 ./a.out",
		"wine a.exe",
		"mono a.exe", "pdflatex --shell-escape x", "lualatex x.tex", "duckdb -c .shell", "tofu apply", "packer build x", "pulumi up",
		"mpv --script=x.lua a",
		"pandoc a.md --lua-filter=f.lua -o b", "hugo", "protoc --plugin=./x a.proto", "clang-tidy -load ./x.so a.c", "watchexec make",
		"hyperfine bash", "act",
		"lefthook run pre-commit", "ffmpeg -i a b", "magick a b", "sops exec-env a b", "gh alias set x '!sh'", "jj status", "tig", "code .",
		"rclone ls x",
	} {
		name, _, _ := strings.Cut(command, " ")
		if err := os.WriteFile(filepath.Join(bin, name), native, 0o755); err != nil {
			t.Fatal(err)
		}
		p := plan(t, r, command, dir)
		if p.Known || !slices.ContainsFunc(p.Doubts, func(d Doubt) bool { return d.Code != "missing" }) {
			t.Errorf("%q: known %v, %v", command, p.Known, p.Doubts)
		}
	}
}

// Writers are no readers: these options of readers write, and the plan says so.
func TestSec_A_EXEC_09_WritersAmongReaders(t *testing.T) {
	bin, dir := mustReal(t, t.TempDir()), mustReal(t, t.TempDir())
	r := New(Options{Path: []string{"/usr/bin"}, Confined: true, Home: t.TempDir()})
	r.path, r.trusted = append([]string{bin}, r.path...), func(string) bool { return true }
	native, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Skip("no /bin/true here")
	}
	for _, name := range []string{"tree", "file", "ptx", "base64", "arch", "date"} {
		if err := os.WriteFile(filepath.Join(bin, name), native, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for command, word := range map[string]string{
		"tree -R": "00Tree.html", "tree -aRL 1": "00Tree.html", "tree -o x": dir + "/x", "file -C": "NAME.mgc", "file -bC -m x": "NAME.mgc",
		"file --comp":   "NAME.mgc",
		"ptx -G in out": dir + "/out", "ptx --trad in out": dir + "/out", "base64 -i in -o out": dir + "/out",
	} {
		if p := plan(t, r, command, dir); !strings.Contains(strings.Join(p.Lines(), " "), "Writes to: "+word) {
			t.Errorf("%q: %q", command, p.Lines())
		}
	}
	asks(t, r, "arch -x86_64 pwned", dir)
	if p := plan(t, r, "date +%s -s 2020-01-01", dir); p.OnlyWrites {
		t.Error("date sets the clock, and the plan says that it changes nothing")
	}
	for _, command := range []string{"tree", "tree -L 2 d", "file in", "base64 -d in", "ptx in", "arch"} {
		if p := plan(t, r, command, dir); !p.Known || !p.OnlyWrites || len(p.Writes) > 0 {
			t.Errorf("%q: known %v, %q", command, p.Known, p.Lines())
		}
	}
}

// One program in this folder is that program, in this folder.
func TestSec_A_EXEC_08_AloneInItsFolder(t *testing.T) {
	r, dir := resolver(t), mustReal(t, t.TempDir())
	for command, want := range map[string]bool{
		"cat a": true, "cat a 2>/dev/null": true, "cat < a": true, "cd /etc && cat passwd": false, "cd /etc; cat passwd": false,
		"cat a | wc": false, "LANG=C cat a": false,
		"echo x && cat a": false, "! cat a": false, "cat a &": false, "(cat a)": false, "{ cat a; }": false, "exec cat a": false,
		"nice cat a": false, "echo a": false,
	} {
		if p := plan(t, r, command, dir); p.Alone != want {
			t.Errorf("%q: alone %v", command, p.Alone)
		}
	}
}
