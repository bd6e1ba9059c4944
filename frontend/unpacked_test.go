package frontend

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
)

func packed(t *testing.T, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPackedFilesAreFiles(t *testing.T) {
	old := packed(t, "old")
	u := unpacked{fstest.MapFS{
		"index.html.gz":     {Data: packed(t, "page")},
		"assets/a.js.gz":    {Data: packed(t, "script")},
		"assets/both.js":    {Data: []byte("new")},
		"assets/both.js.gz": {Data: old},
		"assets/broken.gz":  {Data: []byte("no gzip")},
	}}
	for name, want := range map[string]string{"index.html": "page", "assets/a.js": "script", "assets/both.js": "new"} {
		if b, err := fs.ReadFile(u, name); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if b, err := fs.ReadFile(u, "index.html.gz"); err != nil || len(b) == 0 {
		t.Errorf("the packed bytes are not there: %v", err)
	}
	for _, name := range []string{"assets/both.js.gz", "none", "none.gz"} {
		if _, err := fs.ReadFile(u, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := fs.ReadFile(u, "assets/broken"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a broken file: %v", err)
	}
	if b, err := fs.ReadFile(orNotice(u), "index.html"); err != nil || string(b) != "page" {
		t.Errorf("a packed page is none: %q, %v", b, err)
	}
}
