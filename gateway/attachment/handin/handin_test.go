package handin_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/attachment/handin"
	"github.com/hearth-assistant/hearth/gateway/document"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

type lab struct {
	*handin.Desk
	dir, workspace string
	now            time.Time
}

func newLab(t *testing.T) *lab {
	l := &lab{dir: t.TempDir(), workspace: t.TempDir(), now: time.Now()}
	l.Desk = handin.New(handin.Options{
		Dir: statedir.Dir(l.dir), Workspace: func(string) string { return l.workspace }, Reader: document.New(nil),
		Now: func() time.Time { return l.now },
	})
	return l
}

func (l *lab) put(t *testing.T, name, text string, part int) protocol.UploadPutResult {
	t.Helper()
	var res protocol.UploadPutResult
	for at := 0; at < len(text); at += part {
		var err error
		res, err = l.Put(t.Context(), protocol.UploadPutParams{Upload: res.Upload, FileName: name, Size: int64(len(text)), Offset: int64(at),
			Content: base64.StdEncoding.EncodeToString([]byte(text[at:min(at+part, len(text))]))})
		if err != nil {
			t.Fatal(err)
		}
	}
	return res
}

// A file that comes in parts is whole at its end, also when a part comes twice, is
// read once, and goes into the inbox with its message.
func TestUploadInParts(t *testing.T) {
	l := newLab(t)
	text := strings.Repeat("a line of the notes\n", 1000)
	res := l.put(t, "../no\u202etes.txt", text, 7000)
	if res.File == nil || res.File.Kind != document.Text || res.File.Text < 19_000 || res.File.Name != "../notes.txt" {
		t.Fatalf("%+v", res.File)
	}
	again, err := l.Put(t.Context(), protocol.UploadPutParams{Upload: res.Upload, Offset: 0,
		Content: base64.StdEncoding.EncodeToString([]byte(text[:7000]))})
	if err != nil || again.Received != int64(len(text)) {
		t.Errorf("a part that came twice: %+v, %v", again, err)
	}
	f, err := l.Get(res.Upload)
	if err != nil || string(f.Data) != text {
		t.Fatal(err)
	}
	for range 2 { // sent again, it is the same
		blocks, err := l.Take(t.Context(), "main", []handin.Item{f}, 50_000)
		if err != nil || len(blocks) != 1 || blocks[0].File.Path != "inbox/notes.txt" || !blocks[0].File.Whole ||
			!strings.Contains(blocks[0].Text, "EXTERNAL_UNTRUSTED_CONTENT") {
			t.Fatalf("%+v, %v", blocks, err)
		}
	}
	if list, _ := os.ReadDir(filepath.Join(l.workspace, "inbox")); len(list) != 1 {
		t.Errorf("%d files are kept", len(list))
	}
	l.Drop(res.Upload)
	if _, err := l.Get(res.Upload); err == nil {
		t.Error("it is there after it was dropped")
	}
}

// What does not fit is given in part, with how to read on.
func TestMoreThanFits(t *testing.T) {
	l := newLab(t)
	var book strings.Builder
	book.WriteString("{\\rtf1 ")
	for n := range 5000 {
		fmt.Fprintf(&book, "line %d\\par\n", n)
	}
	blocks, err := l.Take(t.Context(), "main", []handin.Item{{Name: "b.rtf", Data: []byte(book.String() + "}")}, {Name: "c.txt",
		Data: []byte(strings.Repeat("x", 4000))}}, 10_000)
	if err != nil || len(blocks) != 2 {
		t.Fatal(err)
	}
	for i, want := range []string{"The first 10 KB of its text", "The first 1 KB of its text"} {
		f := blocks[i].File
		if f.Whole || len(blocks[i].Text) > 12_000 || !strings.Contains(blocks[i].Text, want) ||
			!strings.Contains(blocks[i].Text, "the tool read gives it, with path "+f.Path) {
			t.Errorf("%+v: %.400s", f, blocks[i].Text)
		}
	}
}

// Only whole uploads of this folder are given out, none is larger than it says or may
// be, and they do not fill the disk.
func TestSec_A_FILE_13_UploadsAreBounded(t *testing.T) {
	l := newLab(t)
	begin := func(size int64, content string) error {
		_, err := l.Put(t.Context(), protocol.UploadPutParams{FileName: "x", Size: size, Content: content})
		return err
	}
	if begin(0, "") == nil || begin(-1, "") == nil || begin(protocol.MaxAttachmentBytes+1, "") == nil || begin(1, "AAAA") == nil {
		t.Error("a size that cannot be was taken")
	}
	if begin(100, "!") == nil {
		t.Error("what is no base64 was taken")
	}
	if begin(100, strings.Repeat("A", protocol.MaxUploadPart*2)) == nil {
		t.Error("a part that is too large was taken")
	}
	secret := filepath.Join(l.dir, "secret")
	if err := os.WriteFile(secret, []byte("k"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"../secret", "", "..", strings.Repeat("A", 26), secret} {
		if _, err := l.Get(id); err == nil {
			t.Errorf("%q was given out", id)
		}
		l.Drop(id)
	}
	if _, err := os.Stat(secret); err != nil {
		t.Error("a file of another folder was dropped")
	}
	n := 0
	for ; n < 200 && begin(4<<20, "AAAA") == nil; n++ {
	}
	if n >= 100 {
		t.Errorf("%d uploads wait", n)
	}
	l.now = l.now.Add(72 * time.Hour)
	if err := begin(4<<20, "AAAA"); err != nil {
		t.Errorf("old ones stay: %v", err)
	}
	if list, _ := os.ReadDir(filepath.Join(l.dir, "uploads")); len(list) > 4 {
		t.Errorf("%d files stayed", len(list))
	}
}

// What a person keeps of a model's work lies in the workspace, never in the place of
// something else, and never outside of its folder.
func TestArtifactsAreSaved(t *testing.T) {
	l := newLab(t)
	save := func(name, text string) (protocol.ArtifactSaved, error) {
		return l.Save(t.Context(), protocol.ArtifactSaveParams{SessionKey: "agent:main:main", FileName: name, Content: text})
	}
	for _, c := range []struct{ name, text, want string }{
		{"Counter.html", "<h1>1</h1>", "artifacts/Counter.html"},
		{"Counter.html", "<h1>1</h1>", "artifacts/Counter.html"}, // the same again
		{"Counter.html", "<h1>2</h1>", "artifacts/Counter-2.html"},
		{"../../.bash\u202erc", "evil", "artifacts/bashrc"},
		{"", "x", "artifacts/file"},
	} {
		got, err := save(c.name, c.text)
		if err != nil || got.Name != c.want {
			t.Errorf("%q: %+v %v", c.name, got, err)
			continue
		}
		if raw, err := os.ReadFile(got.Path); err != nil || string(raw) != c.text || got.Path != filepath.Join(l.workspace, c.want) {
			t.Errorf("%s holds %q, %v", got.Path, raw, err)
		}
	}
	for why, text := range map[string]string{"empty": "", "at most 2 MB": strings.Repeat("x", protocol.MaxArtifact+1)} {
		if _, err := save("a.txt", text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
}
