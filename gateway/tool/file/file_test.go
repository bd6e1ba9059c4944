package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/document"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

// world is a workspace with its surroundings.
type world struct {
	t                      testing.TB
	top, work, home, state string
	asks                   []Ask
	refuse                 error
	kept                   [][]undo.Change
	sees                   bool
	keepErr                error
	tools                  *tool.Set
	onAsk                  func(Ask)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, top: top, work: filepath.Join(top, "work"), home: filepath.Join(top, "home"), state: filepath.Join(top, "home", "state"),
		refuse: errors.New("the owner said no")}
	for _, d := range []string{w.work, w.state} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.tools, err = tool.NewSet(New(Options{
		Finder: safepath.Finder{Home: w.home, Private: []string{w.state, filepath.Join(w.home, "hearth.json")}},
		Permit: func(_ context.Context, _ tool.Call, a Ask) error {
			w.asks = append(w.asks, a)
			if w.onAsk != nil {
				w.onAsk(a)
			}
			return w.refuse
		},
		Document: document.New(nil).Read, Undo: w, Sees: func(model.Ref) bool { return w.sees },
	})...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) Keep(_ context.Context, _ undo.Turn, c []undo.Change) error {
	w.kept = append(w.kept, c)
	return w.keepErr
}

func (w *world) put(name, content string) string {
	w.t.Helper()
	p := name
	if !filepath.IsAbs(p) {
		p = filepath.Join(w.work, name)
	}
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) get(name string) string {
	w.t.Helper()
	p := name
	if !filepath.IsAbs(p) {
		p = filepath.Join(w.work, name)
	}
	b, err := os.ReadFile(p)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

func (w *world) run(name string, args any) model.ToolResult {
	w.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.tools.Run(w.t.Context(), tool.Scope{RunID: "run", SessionKey: "s", Workspace: w.work},
		model.ToolCall{ID: "c", Name: name, Arguments: raw}, nil)
}

func (w *world) ok(name string, args any) model.ToolResult {
	w.t.Helper()
	r := w.run(name, args)
	if r.IsError {
		w.t.Fatalf("%s: %s", name, r.Text)
	}
	return r
}

func (w *world) fails(name string, args any, want string) {
	w.t.Helper()
	r := w.run(name, args)
	if !r.IsError || !strings.Contains(r.Text, want) {
		w.t.Errorf("%s %v: error %t %q, want %q", name, args, r.IsError, r.Text, want)
	}
}

type m = map[string]any

func detailsOf(t testing.TB, r model.ToolResult) details {
	t.Helper()
	var d details
	if err := json.Unmarshal(r.Details, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRead(t *testing.T) {
	w := newWorld(t)
	w.put("a.txt", "one\ntwo\nthree\n")
	for _, tc := range []struct {
		args m
		want string
	}{
		{m{"path": "a.txt"}, "one\ntwo\nthree\n"},
		{m{"path": filepath.Join(w.work, "a.txt")}, "one\ntwo\nthree\n"},
		{m{"file_path": "./x/../a.txt"}, "one\ntwo\nthree\n"},
		{m{"path": "a.txt", "offset": 2}, "two\nthree\n"},
		{m{"path": "a.txt", "limit": 1}, "one\n\n[Lines 1-1 of 3. Go on with offset=2.]"},
		{m{"path": "a.txt", "offset": 2, "limit": 1, "numbers": true}, "     2\ttwo\n\n[Lines 2-2 of 3. Go on with offset=3.]"},
		{m{"path": "a.txt", "offset": 4}, "The file has 3 lines; there is none at offset 4."},
		{m{"path": "."}, ". is a folder:\na.txt"},
	} {
		if got := w.ok("read", tc.args).Text; got != tc.want {
			t.Errorf("%v: %q, want %q", tc.args, got, tc.want)
		}
	}
	w.put("empty", "")
	if got := w.ok("read", m{"path": "empty"}).Text; got != "The file is empty." {
		t.Error(got)
	}
	w.put("Änderung.md", "x")
	w.fails("read", m{"path": "A.TXT"}, `there is ["a.txt"]`)
	w.fails("read", m{"path": "no/such"}, "the folder no is missing as well")
	w.fails("read", m{"path": "a.txt", "offset": -1}, "count from 1")
	if len(w.asks)+len(w.kept) != 0 {
		t.Errorf("%d asks, %d kept for reading inside", len(w.asks), len(w.kept))
	}
}

func TestReadCaps(t *testing.T) {
	w := newWorld(t)
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	w.put("many", b.String())
	got := w.ok("read", m{"path": "many"}).Text
	if !strings.HasSuffix(got, "line 2000\n\n[Lines 1-2000 of 5000. Go on with offset=2001.]") {
		t.Errorf("…%s", got[len(got)-80:])
	}
	got = w.ok("read", m{"path": "many", "offset": 4000}).Text
	if !strings.HasPrefix(got, "line 4000\n") || !strings.HasSuffix(got, "line 5000\n") {
		t.Errorf("the end: %s", got)
	}
	w.put("wide", strings.Repeat(strings.Repeat("x", 999)+"\n", 100))
	got = w.ok("read", m{"path": "wide"}).Text
	if len(got) > maxBytes+200 || !strings.HasSuffix(got, "[Lines 1-51 of 100. Go on with offset=52.]") {
		t.Errorf("%d bytes, …%s", len(got), got[len(got)-80:])
	}
	w.put("long", strings.Repeat("é", 1<<20)+"\nnext\n")
	got = w.ok("read", m{"path": "long"}).Text
	if len(got) > maxBytes+300 || !strings.Contains(got, "Line 1 is longer than 50.0 KB and was cut.") || strings.Contains(got, "\uFFFD") {
		t.Errorf("%d bytes, …%s", len(got), got[len(got)-200:])
	}
}

// TestReadHuge reads the head of a file that does not fit anywhere.
func TestReadHuge(t *testing.T) {
	w := newWorld(t)
	p := w.put("huge", "first\nsecond\n")
	if err := os.Truncate(p, 10<<30); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	got := w.ok("read", m{"path": "huge"}).Text // NULs follow: no text
	if !strings.Contains(got, "10.0 GB") {
		t.Error(got)
	}
	f, err := os.OpenFile(p, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Repeat("0123456789abcde\n", 10_000)); err != nil {
		t.Fatal(err)
	}
	got = w.ok("read", m{"path": "huge", "limit": 2}).Text
	if !strings.Contains(got, "[Lines 1-2 of a file of 10.0 GB. Go on with offset=3.]") {
		t.Error(got)
	}
	w.fails("edit", m{"path": "huge", "oldText": "a", "newText": "b"}, "files of more than 64.0 MB are not changed")
	w.fails("write", m{"path": "huge", "content": "b"}, "files of more than 64.0 MB are not changed")
}

func TestReadPictures(t *testing.T) {
	w := newWorld(t)
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x20\x00\x00\x00\x10\x08\x02\x00\x00\x00"
	w.put("a.png", png)
	w.put("bomb.png", strings.Replace(png, "\x00\x00\x00\x20\x00\x00\x00\x10", "\x00\x00\xc3\x50\x00\x00\xc3\x50", 1))
	if r := w.ok("read", m{"path": "a.png"}); len(r.Images) != 0 || !strings.Contains(r.Text, "32 × 16. This model is not shown pictures") {
		t.Error(r)
	}
	w.sees = true
	r := w.ok("read", m{"path": "a.png"})
	if len(r.Images) != 1 || r.Images[0].MIME != "image/png" || string(r.Images[0].Data) != png {
		t.Error(r)
	}
	if r := w.ok("read", m{"path": "bomb.png"}); len(r.Images) != 0 || !strings.Contains(r.Text, "too many dots") {
		t.Error(r)
	}
	w.put("a.bin", "\x00\x01\x02")
	w.put("a.pdf", "%PDF-1.7\nabc\n")
	for name, want := range map[string]string{"a.bin": "is a binary file, 3 bytes, application/octet-stream", "a.pdf": "it is damaged"} {
		if r := w.ok("read", m{"path": name}); !strings.Contains(r.Text, want) {
			t.Error(r.Text)
		}
		w.fails("edit", m{"path": name, "oldText": "a", "newText": "b"}, "binary file")
	}
}

func TestEncodingsAndLineEndsAreKept(t *testing.T) {
	for name, tc := range map[string]struct{ before, after, shown string }{
		"plain":        {"a\nold\nz", "a\nnew\nz", "a\nold\nz"},
		"bom":          {bom + "a\nold\n", bom + "a\nnew\n", "a\nold\n"},
		"crlf":         {"a\r\nold\r\nz\r\n", "a\r\nnew\r\nz\r\n", "a\r\nold\r\nz\r\n"},
		"mixed":        {"a\r\nb\r\nold\nz\r\n", "a\r\nb\r\nnew\nz\r\n", "a\r\nb\r\nold\nz\r\n"},
		"latin1":       {"caf\xe9\nold\n", "caf\xe9\nnew\n", "café\nold\n"},
		"utf16le":      {"\xff\xfeo\x00l\x00d\x00\n\x00", "\xff\xfen\x00e\x00w\x00\n\x00", "old\n"},
		"utf16be crlf": {"\xfe\xff\x00o\x00l\x00d\x00\r\x00\n", "\xfe\xff\x00n\x00e\x00w\x00\r\x00\n", "old\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.put("f", tc.before)
			if err := os.Chmod(p, 0o750); err != nil {
				t.Fatal(err)
			}
			if got := w.ok("read", m{"path": "f"}).Text; got != tc.shown {
				t.Errorf("read %q", got)
			}
			w.ok("edit", m{"path": "f", "edits": []m{{"oldText": "old", "newText": "new"}}})
			if got := w.get("f"); got != tc.after {
				t.Errorf("edit: %q, want %q", got, tc.after)
			}
			w.ok("write", m{"path": "f", "content": strings.ReplaceAll(tc.shown, "\r\n", "\n")})
			if got := w.get("f"); name != "mixed" && got != tc.before {
				t.Errorf("write: %q, want %q", got, tc.before)
			}
			w.ok("apply_patch", m{"input": "*** Begin Patch\n*** Update File: f\n@@\n-old\n+new\n*** End Patch"})
			if got := w.get("f"); name != "mixed" && got != tc.after {
				t.Errorf("patch: %q, want %q", got, tc.after)
			}
			if st, _ := os.Stat(p); st.Mode().Perm() != 0o750 {
				t.Errorf("mode %v", st.Mode())
			}
		})
	}
	w := newWorld(t)
	w.put("l1", "caf\xe9\n")
	w.fails("edit", m{"path": "l1", "oldText": "café", "newText": "日本"}, "Latin-1 lacks")
	w.ok("write", m{"path": "l1", "content": "日本\n"})
	w.put("odd16", "\xff\xfea\x00b")
	w.fails("edit", m{"path": "odd16", "oldText": "a", "newText": "b"}, "damaged UTF-16 LE")
}

func TestWrite(t *testing.T) {
	w := newWorld(t)
	r := w.ok("write", m{"path": "deep/er/a.txt", "content": "x\ny\n"})
	want := details{Path: filepath.Join(w.work, "deep/er/a.txt"), Diff: "--- deep/er/a.txt\n+++ deep/er/a.txt\n@@ -0,0 +1,2 @@\n+x\n+y\n",
		FirstChangedLine: 1, Added: 2, Created: true}
	if d := cmp.Diff(want, detailsOf(t, r)); d != "" {
		t.Error(d)
	}
	if k := w.kept[0][0]; k.Before != nil || len(k.Folders) != 2 || k.Path != want.Path {
		t.Errorf("kept %+v", k)
	}
	if got := w.ok("write", m{"path": "deep/er/a.txt", "content": "x\ny\n"}).Text; !strings.Contains(got, "nothing was changed") {
		t.Error(got)
	}
	w.fails("write", m{"path": "b"}, "content is missing")
	w.fails("write", m{"path": "deep", "content": ""}, "it is a folder")
	w.fails("write", m{"path": "deep/er/a.txt/b", "content": ""}, "is not a folder")
	w.fails("write", m{"path": "aux.txt", "content": ""}, "Windows")
	w.keepErr = errors.New("disk full")
	w.fails("write", m{"path": "deep/er/a.txt", "content": "z"}, "nothing was changed, because no copy for undo could be kept")
	if w.get("deep/er/a.txt") != "x\ny\n" {
		t.Error("it was changed")
	}
	left, _ := filepath.Glob(filepath.Join(w.work, "deep/er/.hearth-*"))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestChangedWhileAsked: what was approved is what is done, or nothing.
func TestChangedWhileAsked(t *testing.T) {
	w := newWorld(t)
	w.refuse = nil
	p := w.put(filepath.Join(w.top, "other", "a.txt"), "one\n")
	w.onAsk = func(a Ask) {
		if a.Change {
			w.put(p, "two\n")
		}
	}
	w.fails("edit", m{"path": p, "oldText": "one", "newText": "three"}, "changed by somebody else")
	if got := w.get(p); got != "two\n" {
		t.Errorf("%q", got)
	}
}
