package skill

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// home is a place with all kinds of folders of skills.
type home struct {
	t        *testing.T
	dir      string
	lib      *Library
	world    World
	watching bool
	extra    []string
}

func newHome(t *testing.T) *home {
	h := &home{t: t, dir: real(t.TempDir()), watching: true}
	h.world = World{
		OS: "linux", Find: func(string) bool { return false }, Env: func(string) bool { return false }, Config: func(string) bool {
			return false
		},
		Entry: func(string) Entry { return Entry{} },
	}
	h.lib = New(Options{
		Managed: h.path("installed"), Bundled: h.path("bundled"), LockFile: h.path("lock.json"), SeenFile: h.path("seen.json"), Write: writeFile,
		Now:   func() time.Time { return time.UnixMilli(1) },
		Extra: func() []string { return h.extra }, World: func() World { return h.world }, Watching: func() bool { return h.watching },
		Debounce: func() time.Duration { return time.Millisecond },
	})
	return h
}

func writeFile(path string, data []byte) error { return os.WriteFile(path, data, 0o600) }

func (h *home) path(parts ...string) string {
	return filepath.Join(append([]string{h.dir}, parts...)...)
}

func (h *home) write(p, text string) {
	h.t.Helper()
	full := h.path(filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) workspace() string { return h.path("ws") }

func (h *home) list() []Status {
	h.lib.Refresh()
	return h.lib.List(h.workspace())
}

func (h *home) one(name string) Status {
	h.t.Helper()
	for _, s := range h.list() {
		if s.Name == name {
			return s
		}
	}
	h.t.Fatalf("there is no skill %s", name)
	return Status{}
}

func md(name, more string) string {
	return "---\nname: " + name + "\ndescription: about " + name + "\n" + more + "---\n\nDo it.\n"
}

func files(t *testing.T, from map[string]string) Files {
	t.Helper()
	g := gather{}
	for p, text := range from {
		if err := g.add(File{Path: p, Data: []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	return g.done()
}

func TestPrecedence(t *testing.T) {
	h := newHome(t)
	h.extra = []string{h.path("extra")}
	for _, p := range []string{"ws/skills", "bundled", "extra"} {
		h.write(p+"/a/SKILL.md", md("a", ""))
	}
	h.write("bundled/b/SKILL.md", md("b", ""))
	h.write("extra/b/SKILL.md", md("b", ""))
	h.write("extra/c/SKILL.md", md("c", ""))
	f := files(t, map[string]string{"SKILL.md": md("a", "")})
	if _, err := h.lib.Install(t.Context(), f, "here", f.Hash(), false); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range h.list() {
		got[s.Name] = fmt.Sprint(s.Source, len(s.Shadowed))
	}
	if diff := cmp.Diff(map[string]string{"a": "workspace3", "b": "bundled1", "c": "extra0"}, got); diff != "" {
		t.Error(diff)
	}
	if err := os.RemoveAll(h.path("ws")); err != nil {
		t.Fatal(err)
	}
	if s := h.one("a"); s.Source != Managed || s.Trust != Confirmed {
		t.Errorf("without the workspace: %s %s", s.Source, s.Trust)
	}
}

func TestExtraDirMayBeOneSkill(t *testing.T) {
	h := newHome(t)
	h.write("mine/SKILL.md", md("mine", ""))
	h.extra = []string{h.path("mine")}
	if s := h.one("mine"); s.Source != Extra || !s.Eligible() {
		t.Errorf("%+v", s)
	}
}

func TestFrontMatter(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       func(*Spec)
	}{
		{"the least", "---\nname: a\ndescription: b\n---\n", func(*Spec) {}},
		{"windows lines and a mark", "\xef\xbb\xbf---\r\nname: a\r\ndescription: b\r\n---\r\ntext", func(*Spec) {}},
		{"a colon without quotes", "---\nname: a\ndescription: b\nhomepage: https://x.example\nnote: use this: always\n---\n",
			func(s *Spec) { s.Homepage = "https://x.example" }},
		{"flags", "---\nname: a\ndescription: b\nuser-invocable: false\ndisable-model-invocation: true\n---\n",
			func(s *Spec) { s.UserInvocable, s.ModelInvocable = false, false }},
		{"dispatch", "---\nname: a\ndescription: b\ncommand-dispatch: tool\ncommand-tool: exec\n---\n",
			func(s *Spec) { s.Dispatch, s.DispatchTool = "tool", "exec" }},
		{"dispatch without a tool", "---\nname: a\ndescription: b\ncommand-dispatch: tool\n---\n", func(*Spec) {}},
		{"metadata of one line", `---` + "\nname: a\ndescription: b\n" +
			`metadata: {"milaidy": {"requires": {"bins": ["uv"], "env": ["MY_API_KEY"], "config": ["browser.enabled"]}, ` +
			`"primaryEnv": "MY_API_KEY"}}` + "\n---\n",
			func(s *Spec) {
				s.Requires, s.PrimaryEnv = Requires{Bins: []string{"uv"}, Env: []string{"MY_API_KEY"}, Config: []string{"browser.enabled"}},
					"MY_API_KEY"
			}},
		{"metadata as a text", "---\nname: a\ndescription: b\n" +
			"metadata: '{\"openclaw\":{\"emoji\":\"x\",\"always\":true,\"os\":[\"windows\",\"macos\"]}}'\n---\n", func(s *Spec) {
			s.Emoji, s.Always, s.Requires.OS = "x", true, []string{"win32", "darwin"}
		}},
		{"metadata over lines, with commas at the end", "---\nname: a\ndescription: b\nmetadata:\n  {\n    \"milaidy\":\n      {\n" +
			"        \"requires\": { \"anyBins\": [\"g\"], },\n" +
			"        \"install\": [ { \"id\": \"brew\", \"kind\": \"brew\", \"formula\": \"g\", \"bins\": [\"g\"], \"label\": \"Install\", }, " +
			"],\n      },\n  }\n---\n", func(s *Spec) {
			s.Requires.AnyBins = []string{"g"}
			s.Install = []Installer{{ID: "brew", Kind: "brew", Formula: "g", Bins: []string{"g"}, Label: "Install"}}
		}},
		{"ours comes first", "---\nname: a\ndescription: b\n" +
			"metadata: {openclaw: {emoji: o}, hearth: {emoji: h, skillKey: k, homepage: 'https://h.example'}}\n---\n", func(s *Spec) {
			s.Emoji, s.Key, s.Homepage = "h", "k", "https://h.example"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := Spec{Name: "a", Description: "b", Key: "a", UserInvocable: true, ModelInvocable: true, ArgMode: "raw"}
			c.want(&want)
			got, err := Parse([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNotASkill(t *testing.T) {
	long := strings.Repeat("x", maxFront)
	for name, text := range map[string]string{
		"empty": "", "no dashes": "# hello", "no end": "---\nname: a\ndescription: b\n", "no name": "---\ndescription: b\n---\n",
		"no description": "---\nname: a\n---\n",
		"a list":         "---\n- a\n---\n", "nothing between": "---\n---\n", "utf-16": "\xff\xfe-\x00-\x00", "binary": "---\nname: a\x00\n---\n",
		"latin-1": "---\nname: caf\xe9\n---\n",
		"twice":   "---\nname: a\nname: b\ndescription: c\n---\n", "too long": "---\nname: a\ndescription: b\nx: " + long + "\n---\n",
		"too large": "---\nname: a\ndescription: b\n---\n" + strings.Repeat("x", maxFile),
	} {
		if s, err := Parse([]byte(text)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

func TestGates(t *testing.T) {
	for _, c := range []struct {
		name, meta string
		world      func(*World)
		want       Requires
		eligible   bool
	}{
		{"nothing needed", `{}`, nil, Requires{}, true},
		{"bins", `{requires: {bins: [a, b]}}`, func(w *World) { w.Find = func(b string) bool { return b == "a" } },
			Requires{Bins: []string{"b"}}, false},
		{"anyBins, none", `{requires: {anyBins: [a, b]}}`, nil, Requires{AnyBins: []string{"a", "b"}}, false},
		{"anyBins, one", `{requires: {anyBins: [a, b]}}`, func(w *World) { w.Find = func(b string) bool { return b == "b" } }, Requires{}, true},
		{"env", `{requires: {env: [K]}}`, nil, Requires{Env: []string{"K"}}, false},
		{"env of ours", `{requires: {env: [K]}}`, func(w *World) { w.Env = func(n string) bool { return n == "K" } }, Requires{}, true},
		{"env of the settings", `{requires: {env: [K]}}`,
			func(w *World) { w.Entry = func(string) Entry { return Entry{Env: map[string]bool{"K": true}} } }, Requires{}, true},
		{"apiKey is the primary one", `{requires: {env: [K]}, primaryEnv: K}`,
			func(w *World) { w.Entry = func(string) Entry { return Entry{APIKey: true} } }, Requires{}, true},
		{"apiKey is not another one", `{requires: {env: [K]}, primaryEnv: L}`,
			func(w *World) { w.Entry = func(string) Entry { return Entry{APIKey: true} } }, Requires{Env: []string{"K"}}, false},
		{"config", `{requires: {config: [x.y]}}`, nil, Requires{Config: []string{"x.y"}}, false},
		{"config is set", `{requires: {config: [x.y]}}`, func(w *World) { w.Config = func(p string) bool { return p == "x.y" } }, Requires{},
			true},
		{"another system", `{os: [darwin]}`, nil, Requires{OS: []string{"darwin"}}, false},
		{"this system", `{os: [darwin, linux]}`, nil, Requires{}, true},
		{"always", `{always: true, requires: {bins: [a], env: [K], config: [x]}}`, nil, Requires{}, true},
		{"always, another system", `{always: true, os: [win32]}`, nil, Requires{OS: []string{"win32"}}, false},
		{"switched off", `{always: true}`, func(w *World) { w.Entry = func(string) Entry { return Entry{Disabled: true} } }, Requires{}, false},
		{"a program that is no name", `{requires: {bins: ['../sh']}}`, func(w *World) { w.Find = FindIn("/bin") },
			Requires{Bins: []string{"?../sh"}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHome(t)
			if c.world != nil {
				c.world(&h.world)
			}
			h.write("ws/skills/s/SKILL.md", md("s", "metadata: {hearth: "+c.meta+"}\n"))
			s := h.one("s")
			if diff := cmp.Diff(c.want, s.Missing); diff != "" || s.Eligible() != c.eligible {
				t.Errorf("eligible %v, %s", s.Eligible(), diff)
			}
		})
	}
}

func TestAllowBundled(t *testing.T) {
	h := newHome(t)
	h.write("bundled/a/SKILL.md", md("a", ""))
	h.write("bundled/b/SKILL.md", md("b", ""))
	h.write("ws/skills/c/SKILL.md", md("c", ""))
	h.world.AllowBundled = []string{"a"}
	for name, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if s := h.one(name); s.Eligible() != want {
			t.Errorf("%s: %v", name, s.Eligible())
		}
	}
	h.world.AllowBundled = []string{}
	if h.one("a").Eligible() {
		t.Error("an empty list allows a bundled skill")
	}
}

func TestFindIn(t *testing.T) {
	h := newHome(t)
	h.write("bin/tool", "x")
	find := FindIn(h.path("bin"))
	if find("tool") {
		t.Error("a file that cannot be run was found")
	}
	if err := os.Chmod(h.path("bin", "tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	if find = FindIn(h.path("bin")); !find("tool") || find("other") || find("bin/tool") || find("") {
		t.Error("programs are not found as a shell would")
	}
}

func TestSessionSnapshot(t *testing.T) {
	h := newHome(t)
	h.watching = false
	h.write("ws/skills/a/SKILL.md", md("a", ""))
	if n := len(h.lib.Session("s1", h.workspace()).Skills); n != 1 {
		t.Fatalf("%d skills", n)
	}
	h.write("ws/skills/b/SKILL.md", md("b", ""))
	h.lib.Refresh()
	if n := len(h.lib.Session("s1", h.workspace()).Skills); n != 1 {
		t.Errorf("a session that runs has %d skills", n)
	}
	if n := len(h.lib.Session("s2", h.workspace()).Skills); n != 2 {
		t.Errorf("a new session has %d skills", n)
	}
	h.watching = true
	if n := len(h.lib.Session("s1", h.workspace()).Skills); n != 2 {
		t.Errorf("with the watcher a session that runs has %d skills", n)
	}
}

func TestWatch(t *testing.T) {
	h := newHome(t)
	h.write("ws/skills/a/SKILL.md", md("a", ""))
	changed := make(chan struct{}, 100)
	done := make(chan error, 1)
	go func() {
		done <- h.lib.Watch(t.Context(), func() []string { return []string{h.workspace()} }, func() { changed <- struct{}{} })
	}()
	// The first look may come before or after the write; a notice comes only after
	// it, so the file is written until one does.
	stop := time.After(20 * time.Second)
	for i := 0; ; i++ {
		h.write("ws/skills/b/SKILL.md", md("b", fmt.Sprintf("x: %d\n", i)))
		select {
		case <-changed:
			if _, err := h.lib.Find(h.workspace(), "b"); err != nil {
				t.Fatal(err)
			}
			return
		case err := <-done:
			t.Fatal(err)
		case <-stop:
			t.Fatal("the change was not seen")
		case <-time.After(time.Second): // longer than a burst is gathered
		}
	}
}

// A new installation has no workspace folder yet; what comes into it later is seen.
func TestWatchBeforeTheFolderIsThere(t *testing.T) {
	h := newHome(t)
	changed := make(chan struct{}, 100)
	done := make(chan error, 1)
	ws := h.path("deep", "er", "ws")
	go func() {
		done <- h.lib.Watch(t.Context(), func() []string { return []string{ws} }, func() { changed <- struct{}{} })
	}()
	stop := time.After(20 * time.Second)
	for i := 0; ; i++ {
		if err := os.RemoveAll(h.path("deep")); err != nil {
			t.Fatal(err)
		}
		h.write("deep/er/ws/skills/b/SKILL.md", md("b", fmt.Sprintf("x: %d\n", i)))
		select {
		case <-changed:
			if _, err := h.lib.Find(ws, "b"); err == nil {
				return
			}
		case err := <-done:
			t.Fatal(err)
		case <-stop:
			t.Fatal("the folder was not seen")
		case <-time.After(time.Second):
		}
	}
}

func TestPromptBudget(t *testing.T) {
	h := newHome(t)
	for i := range 200 {
		h.write(fmt.Sprintf("ws/skills/s%03d/SKILL.md", i), "---\nname: s"+fmt.Sprint(i)+"\ndescription: "+strings.Repeat("long words ", 40)+
			"\n---\n")
	}
	h.write("ws/skills/hidden/SKILL.md", md("hidden", "disable-model-invocation: true\n"))
	s := h.lib.Session("s", h.workspace())
	for _, c := range []struct{ most, chars, lines, left int }{{0, 1 << 20, 150, 50}, {10, 1 << 20, 10, 190}} {
		lines, left := s.Lines(c.most, c.chars)
		if len(lines) != c.lines || left != c.left {
			t.Errorf("%+v: %d lines, %d left", c, len(lines), left)
		}
	}
	lines, left := s.Lines(0, 0)
	if n := total(lines); n > DefaultPromptChars || len(lines)+left != 200 || len(lines) < 40 {
		t.Errorf("%d characters in %d lines, %d left", n, len(lines), left)
	}
	for _, l := range lines {
		if l.Name == "hidden" || !filepath.IsAbs(l.Location) || strings.ContainsRune(l.Description, '\n') {
			t.Errorf("%+v", l)
		}
	}
}

func TestCommands(t *testing.T) {
	h := newHome(t)
	h.write("ws/skills/a/SKILL.md", md("gh-issues", ""))
	h.write("ws/skills/b/SKILL.md", md("gh issues", ""))
	h.write("ws/skills/c/SKILL.md", md("status", ""))
	h.write("ws/skills/d/SKILL.md", md("quiet", "user-invocable: false\n"))
	h.write("ws/skills/e/SKILL.md", md(strings.Repeat("x", 60), ""))
	var got []string
	for _, c := range Commands(h.list(), func(n string) bool { return n == "status" }) {
		got = append(got, c.Name)
	}
	if diff := cmp.Diff([]string{"gh_issues", "gh_issues_2", "status_2", strings.Repeat("x", 32)}, got); diff != "" {
		t.Error(diff)
	}
}

func TestInstallersAreWordsOnly(t *testing.T) {
	for _, c := range []struct {
		in      Installer
		manager string
		want    string
	}{
		{Installer{Kind: "brew", Formula: "gh"}, "", "brew install gh"},
		{Installer{Kind: "node", Package: "@scope/tool"}, "pnpm", "pnpm add --global --ignore-scripts @scope/tool"},
		{Installer{Kind: "node", Package: "tool"}, "npm", "npm install --global --ignore-scripts tool"},
		{Installer{Kind: "go", Module: "example.com/x@latest"}, "", "go install example.com/x@latest"},
		{Installer{Kind: "uv", Package: "nano-pdf"}, "", "uv tool install nano-pdf"},
		{Installer{Kind: "brew", Formula: "gh; rm -rf ~"}, "", ""},
		{Installer{Kind: "node", Package: "--prefix=/"}, "npm", ""},
		{Installer{Kind: "download", URL: "https://x.example/t.tgz", TargetDir: "~/.ssh"}, "", ""},
	} {
		if got := c.in.Command(c.manager); got != c.want {
			t.Errorf("%+v: %q", c.in, got)
		}
	}
}

func zipped(t *testing.T, entries ...*zip.FileHeader) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		f, err := w.CreateHeader(e)
		if err != nil {
			t.Fatal(err)
		}
		text := e.Comment
		if strings.HasSuffix(e.Name, "SKILL.md") && text == "" {
			text = md("zipped", "")
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func entry(name, text string) *zip.FileHeader {
	return &zip.FileHeader{Name: name, Comment: text, Method: zip.Deflate}
}

func TestZip(t *testing.T) {
	got, err := Unpack(zipped(t, entry("top/", ""), entry("top/SKILL.md", ""), entry("top/scripts/a.sh", "echo"), entry("__MACOSX/x", "")))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Path != "SKILL.md" || got[1].Path != "scripts/a.sh" {
		t.Errorf("%+v", got)
	}
}

func BenchmarkScan500(b *testing.B) {
	dir := b.TempDir()
	for i := range 500 {
		d := filepath.Join(dir, "skills", fmt.Sprintf("skill-%d", i))
		if err := os.MkdirAll(d, 0o755); err != nil {
			b.Fatal(err)
		}
		text := md(fmt.Sprintf("skill-%d", i),
			`metadata: {"hearth": {"requires": {"bins": ["a"], "env": ["B"]}, "install": [{"id": "brew", "kind": "brew", "formula": "x", "bins": ["a"]}]}}`+"\n") + strings.Repeat("words of instructions\n", 100)
		if err := os.WriteFile(filepath.Join(d, FileName), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	l := New(Options{Managed: dir + "/m", Bundled: dir + "/b", LockFile: dir + "/l", SeenFile: dir + "/s", Write: writeFile,
		Extra: func() []string { return nil }, Watching: func() bool { return false }})
	l.scan(dir)
	for b.Loop() {
		if n := len(l.scan(dir)); n != 500 {
			b.Fatal(n)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(md("a", "metadata: {hearth: {requires: {bins: [x]}}}\n")))
	f.Add([]byte("---\na: &x [1]\nb: *x\n---\n"))
	f.Add([]byte("---\nname: 'a\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Errorf("%v", err)
			}
			return
		}
		if checkName(s.Name) != nil || clean(s.Description, maxDescription) != s.Description || strings.ContainsAny(s.Description, "\n\x1b") {
			t.Errorf("%+v", s)
		}
	})
}
