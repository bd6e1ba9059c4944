package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func keeper(t *testing.T) (*workspace.Keeper, string) {
	t.Helper()
	home := t.TempDir()
	return workspace.New(safepath.Finder{Home: home, Private: []string{filepath.Join(home, "state")}}, time.Now), t.TempDir()
}

func load(k *workspace.Keeper, dir string, l workspace.Limits, names ...string) map[string]workspace.File {
	out := map[string]workspace.File{}
	for _, f := range k.Load(dir, names, l) {
		out[f.Name] = f
	}
	return out
}

// A new workspace gets every starter, and asks for a hello; one that has any of
// the files is left alone.
func TestSeedNeverOverwrites(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "Hearth")
	if err := workspace.Seed(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range workspace.Names() {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if name == workspace.Memory {
			if err == nil {
				t.Errorf("%s begins with the first memory", name)
			}
			continue
		}
		if err != nil || len(raw) < 20 || len(raw) > 2000 {
			t.Errorf("%s: %d bytes, %v", name, len(raw), err)
		}
	}
	put(t, dir, "SOUL.md", "mine")
	for _, gone := range []string{"BOOTSTRAP.md", "TOOLS.md"} {
		if err := os.Remove(filepath.Join(dir, gone)); err != nil {
			t.Fatal(err)
		}
	}
	if err := workspace.Seed(dir); err != nil {
		t.Fatal(err)
	}
	if raw, _ := os.ReadFile(filepath.Join(dir, "SOUL.md")); string(raw) != "mine" {
		t.Errorf("SOUL.md was written over: %q", raw)
	}
	for _, gone := range []string{"BOOTSTRAP.md", "TOOLS.md"} {
		if _, err := os.Stat(filepath.Join(dir, gone)); err == nil {
			t.Errorf("%s came back", gone)
		}
	}
	if err := workspace.Seed("relative"); err == nil {
		t.Error("a relative folder was taken")
	}
}

// Who reads which files.
func TestWhoReadsWhat(t *testing.T) {
	for _, c := range []struct {
		reader workspace.Reader
		want   string
	}{
		{workspace.Reader{}, "AGENTS SOUL TOOLS IDENTITY USER BOOTSTRAP MEMORY"},
		{workspace.Reader{Heartbeat: true}, "AGENTS SOUL TOOLS IDENTITY USER HEARTBEAT BOOTSTRAP MEMORY"},
		{workspace.Reader{Helper: true}, "AGENTS TOOLS"},
		{workspace.Reader{Stranger: true}, "AGENTS SOUL IDENTITY"},
		{workspace.Reader{Helper: true, Stranger: true}, "AGENTS"},
	} {
		want := strings.Fields(strings.ReplaceAll(c.want+" ", " ", ".md "))
		if d := cmp.Diff(want, workspace.For(c.reader)); d != "" {
			t.Errorf("%+v: %s", c.reader, d)
		}
	}
}

// The limits: 12,000 characters of a file and 60,000 of all, or as the settings
// say; characters, not bytes.
func TestBootstrapLimits(t *testing.T) {
	k, dir := keeper(t)
	names := []string{"AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "MEMORY.md"}
	for _, n := range names {
		put(t, dir, n, "begin"+strings.Repeat("ü", 20_000)+"end")
	}
	got := load(k, dir, workspace.Limits{}, names...)
	total := 0
	for _, n := range names {
		f := got[n]
		if chars := utf8.RuneCountInString(f.Text); chars > 12_000 || f.Chars != 20_008 {
			t.Errorf("%s: %d characters of %d", n, chars, f.Chars)
		}
		total += f.Kept
	}
	if f := got["AGENTS.md"]; !strings.HasPrefix(f.Text, "begin") || !strings.HasSuffix(f.Text, "end") ||
		!strings.Contains(f.Text, "cut: read AGENTS.md for the rest") {
		t.Errorf("cut: %.40q … %q", f.Text, f.Text[len(f.Text)-20:])
	}
	if total > 60_000 || total < 59_000 {
		t.Errorf("%d characters in all", total)
	}
	if f := got["MEMORY.md"]; f.Kept >= 12_000 {
		t.Errorf("the last file is not cut to what is left: %d", f.Kept)
	}
	if f := load(k, dir, workspace.Limits{File: 100, Total: 150}, names...); f["AGENTS.md"].Kept > 100 || f["TOOLS.md"].Kept != 0 ||
		f["TOOLS.md"].Text == "" {
		t.Errorf("%+v", f)
	}
	put(t, dir, "SOUL.md", "short")
	if f := load(k, dir, workspace.Limits{}, "SOUL.md")["SOUL.md"]; f.Text != "short" || f.Kept != f.Chars {
		t.Errorf("%+v", f)
	}
}

// Missing files are said to be missing, but for those that need not be there;
// an emptied ritual is done.
func TestMissingFiles(t *testing.T) {
	k, dir := keeper(t)
	put(t, dir, "BOOTSTRAP.md", " \n")
	got := load(k, dir, workspace.Limits{}, workspace.Names()...)
	for _, n := range workspace.Names() {
		f, there := got[n]
		if optional := workspace.Optional(n); there == optional || there && !f.Missing {
			t.Errorf("%s: %+v, shown %v", n, f, there)
		}
	}
	if got := k.Load(filepath.Join(dir, "nowhere"), []string{"AGENTS.md"}, workspace.Limits{}); !got[0].Missing {
		t.Errorf("%+v", got)
	}
}

// A change is seen by the next turn.
func TestFilesAreReadFresh(t *testing.T) {
	k, dir := keeper(t)
	old := time.Now().Add(-time.Hour)
	for _, text := range []string{"one", "two", "six"} {
		put(t, dir, "AGENTS.md", text)
		old = old.Add(time.Second)
		if err := os.Chtimes(filepath.Join(dir, "AGENTS.md"), old, old); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := load(k, dir, workspace.Limits{}, "AGENTS.md")["AGENTS.md"].Text; got != text {
				t.Errorf("got %q, want %q", got, text)
			}
		}
	}
}

// Nothing in a file steers a screen or hides from a person.
func TestSec_A_INJ_10_HiddenCharactersOfFiles(t *testing.T) {
	k, dir := keeper(t)
	put(t, dir, "AGENTS.md", "\ufeffa\x1b[31m\u202eb\u2066c\u200b\U000E0041\U000E0100d\x07\r\ne\rf\u2028g\u00ad 👩\u200d👩\u200d👧 ok\t.")
	if got, want := load(k, dir, workspace.Limits{}, "AGENTS.md")["AGENTS.md"].Text, "a[31mbcd\ne\nf\ng 👩\u200d👩\u200d👧 ok\t."; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Wrong encodings and other files are told, not shown.
func TestEncodings(t *testing.T) {
	k, dir := keeper(t)
	for text, want := range map[string]struct{ text, problem string }{
		"\xff\xfeh\x00i\x00":                    {"hi", ""},
		"\xfe\xff\x00h\x00i":                    {"hi", ""},
		"\x89PNG\r\n\x00\x00":                   {"", "not text"},
		"caf\xe9":                               {"", "UTF-8"},
		strings.Repeat("a", 1<<20-1) + "é tail": {"a", ""}, // a character at the end of what is read
	} {
		put(t, dir, "AGENTS.md", text)
		f := load(k, dir, workspace.Limits{File: 10}, "AGENTS.md")["AGENTS.md"]
		if want.problem == "" && f.Problem != "" || !strings.Contains(f.Problem, want.problem) {
			t.Errorf("%.10q: problem %q", text, f.Problem)
		}
		if len(text) < 100 && f.Text != want.text {
			t.Errorf("%q: %q", text, f.Text)
		}
	}
}

// A-FILE-02: a link out of the workspace, a folder, a pipe and a second name of a
// secret are not read; a link inside is.
func TestSec_A_FILE_02_FilesOfTheWorkspace(t *testing.T) {
	k, dir := keeper(t)
	out := t.TempDir()
	put(t, out, "secret.md", "canary")
	put(t, dir, "real.md", "mine")
	for name, make := range map[string]func(string) error{
		"AGENTS.md":   func(at string) error { return os.Symlink(filepath.Join(out, "secret.md"), at) },
		"SOUL.md":     func(at string) error { return os.Symlink("../"+filepath.Base(out)+"/secret.md", at) },
		"TOOLS.md":    func(at string) error { return os.Mkdir(at, 0o700) },
		"IDENTITY.md": func(at string) error { return os.Symlink("real.md", at) },
		"USER.md":     func(at string) error { return os.Symlink("USER.md", at) },
	} {
		if err := make(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, f := range load(k, dir, workspace.Limits{}, "AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md") {
		if name == "IDENTITY.md" {
			if f.Text != "mine" {
				t.Errorf("a link inside: %+v", f)
			}
			continue
		}
		if f.Text != "" || f.Problem == "" && !f.Missing {
			t.Errorf("%s: %+v", name, f)
		}
		if _, err := k.Get(dir, name); err == nil {
			t.Errorf("%s is read by name", name)
		}
	}
}

func TestSec_A_FILE_01_OnlyKnownNames(t *testing.T) {
	k, dir := keeper(t)
	for _, name := range []string{"", ".", "..", "../AGENTS.md", "/etc/passwd", "agents.md", "AGENTS.md\x00", "memory/2026-01-01.md",
		"AGENTS.md/", "C:AGENTS.md"} {
		if _, err := k.Get(dir, name); !errors.Is(err, workspace.ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("text"), 10)
	f.Add([]byte("\xff\xfeh\x00\x00\xd8"), 5)
	f.Add([]byte("\x00"), 1)
	k, dir := workspace.New(safepath.Finder{}, func() time.Time { return time.Time{} }), f.TempDir()
	f.Fuzz(func(t *testing.T, raw []byte, limit int) {
		put(t, dir, "AGENTS.md", string(raw))
		if err := os.Chtimes(filepath.Join(dir, "AGENTS.md"), time.Time{}, time.Now()); err != nil {
			t.Fatal(err)
		}
		limit = min(max(limit, 1), 1000)
		for _, file := range k.Load(dir, []string{"AGENTS.md"}, workspace.Limits{File: limit}) {
			if !utf8.ValidString(file.Text) || file.Kept > limit || file.Kept > file.Chars {
				t.Errorf("%+v", file)
			}
			if i := slices.IndexFunc([]rune(file.Text), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }); i >= 0 {
				t.Errorf("a control character at %d", i)
			}
		}
	})
}
