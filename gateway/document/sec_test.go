package document

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

type entry struct{ name, body string }

func zipOf(t testing.TB, list ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range list {
		w, err := z.Create(e.name)
		if err == nil {
			_, err = w.Write([]byte(e.body))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func docx(t testing.TB, xml string) []byte { return zipOf(t, entry{"word/document.xml", xml}) }

// manyObjects is a PDF of a million objects, each of which is one more object.
func manyObjects() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n" +
		"3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R>>endobj\n")
	for n := 4; n < 1_000_000; n++ {
		fmt.Fprintf(&b, "%d 0 obj<</A %d 0 R>>endobj\n", n, n+1)
	}
	b.WriteString("trailer<</Root 1 0 R/Size 1000000>>\nstartxref\n0\n%%EOF")
	return b.Bytes()
}

// pageLoop is a PDF whose pages hold themselves, and a form that draws itself.
const pageLoop = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 9/Kids[2 0 R 3 0 R 3 0 R]>>endobj\n" +
	"3 0 obj<</Type/Page/Parent 2 0 R/Resources<</XObject<</F 5 0 R>>/Font<</T 6 0 R>>>>/Contents 4 0 R>>endobj\n" +
	"4 0 obj<</Length 54>>stream\nBT /T 12 Tf 10 10 Td (walnut) Tj ET /F Do /F Do /F Do\nendstream endobj\n" +
	"5 0 obj<</Type/XObject/Subtype/Form/Resources<</XObject<</F 5 0 R>>>>/Length 12>>stream\n/F Do /F Do \nendstream endobj\n" +
	"6 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n" +
	"trailer<</Root 1 0 R/Size 7>>\nstartxref\n0\n%%EOF"

// Files that unpack to more than they may, nest without end or are cut off end as
// what they are, in a process that is held to its limits.
func TestSec_A_FILE_07_BombsInDocuments(t *testing.T) {
	zeros := strings.Repeat("0", 97<<20)
	laughs := `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">`
	for n := 'b'; n <= 'k'; n++ {
		laughs += fmt.Sprintf(`<!ENTITY %c "%s">`, n, strings.Repeat("&"+string(n-1)+";", 10))
	}
	laughs += "]><w:document><w:p><w:t>&k;</w:t></w:p></w:document>"
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	for range 5 {
		_, _ = w.Write(bytes.Repeat([]byte{'a', 0}, 64<<20))
	}
	_ = w.Close()
	cell := "<table:table-row table:number-rows-repeated=\"1048576\"><table:table-cell table:number-columns-repeated=\"16384\"><text:p>x" +
		"</text:p></table:table-cell></table:table-row>"
	r := inChild(t)
	for name, tt := range map[string]struct {
		data []byte
		want string // codes, "" is text
		most int    // bytes of text
	}{
		"zip bomb in a docx": {docx(t, zeros), Bomb, 0},
		"deep xml":           {docx(t, strings.Repeat("<w:p>", 1_000_000)), Bomb, 0},
		"a billion laughs":   {docx(t, laughs), "", 64},
		"a sheet that says it is full": {zipOf(t, entry{"mimetype", "application/vnd.oasis.opendocument.spreadsheet"},
			entry{"content.xml", "<body><table:table table:name=\"a\">" + strings.Repeat(cell, 3) + "</table:table></body>"}), "", maxText},
		"packed, 320 MB":       {packed.Bytes(), "", maxText},
		"a million objects":    {manyObjects(), "empty|too-much|broken", 0},
		"pages within pages":   {[]byte(pageLoop), "", 64},
		"deep html":            {[]byte("<html>" + strings.Repeat("<div><b>", 1_000_000) + "end"), "", 64},
		"deep rtf":             {[]byte(`{\rtf1 ` + strings.Repeat("{", 1_000_000) + "end"), "", 64},
		"an archive within":    {zipOf(t, entry{"in.zip", string(zipOf(t, entry{"in.txt", "x"}))}), "", 64},
		"100,000 files within": {tarOf(t, 120_000), "bomb", 0},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := r.Read(t.Context(), "file", "", tt.data)
			if err != nil {
				t.Fatal(err)
			}
			code := ""
			if d.Problem != nil {
				code = d.Problem.Code
			}
			if text := d.Whole(); !strings.Contains("|"+tt.want+"|", "|"+code+"|") || len(text) > tt.most {
				t.Errorf("%q (%v), %d bytes of text", code, d.Problem, len(text))
			}
		})
	}
}

func tarOf(t testing.TB, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for i := range n {
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d.txt", i), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What cannot be read is said to be what it is.
func TestSec_A_FILE_06_FilesWithoutText(t *testing.T) {
	file := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	report := file("report.pdf")
	old := "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 600)
	for name, tt := range map[string]struct {
		name, kind, code string
		data             []byte
	}{
		"a password":          {"a.pdf", PDF, Encrypted, file("locked.pdf")},
		"a scan":              {"a.pdf", PDF, NoText, file("scanned.pdf")},
		"half a pdf":          {"a.pdf", PDF, Broken, report[:len(report)/2]},
		"only its first line": {"a.pdf", PDF, Broken, []byte("%PDF-1.7\n")},
		"half a docx":         {"a.docx", Archive, Broken, file("report.docx")[:3000]},
		"an old doc":          {"a.doc", Word, Foreign, []byte(old)},
		"a locked docx":       {"a.docx", Word, Encrypted, []byte(old + string(wide("EncryptedPackage")))},
		"a locked odt": {"a.odt", Word, Encrypted, zipOf(t, entry{"mimetype", "application/vnd.oasis.opendocument.text"},
			entry{"META-INF/manifest.xml", "<manifest:encryption-data/>"}, entry{"content.xml", "\x01\x02"})},
		"bytes":         {"a.dat", Unknown, Foreign, []byte{1, 2, 3, 0, 0, 5, 0, 1, 9}},
		"nothing":       {"a.txt", Unknown, Empty, nil},
		"only spaces":   {"a.txt", Text, Empty, []byte(" \n \n")},
		"a pdf by name": {"a.pdf", Text, "", []byte("not one")},
	} {
		d, err := Extract(tt.name, "", tt.data)
		var p *Problem
		if errors.As(err, &p); d.Kind != tt.kind || tt.code == "" && err != nil || tt.code != "" && (p == nil || p.Code != tt.code) {
			t.Errorf("%s: %s, %v", name, d.Kind, err)
		}
		if p != nil && len(p.Error()) < 15 {
			t.Errorf("%s says only %q", name, p)
		}
	}
}

// Names and text that would turn lines around, hide or forge are shown as they are.
func TestSec_A_FILE_11_NamesInArchives(t *testing.T) {
	d, err := Extract("a.zip", "", zipOf(t, entry{"../../.bashrc", "x"}, entry{"gpj.\u202eexe", "x"}, entry{"a\nb\x1b[31m.txt", "x"},
		entry{"/etc/passwd", "x"}, entry{"fine.txt", "x"}, entry{`..\up`, "x"}))
	if err != nil {
		t.Fatal(err)
	}
	text := d.Whole()
	for _, want := range []string{"../../.bashrc  1 B  (an odd path)", "gpj.exe  1 B\n", "a b[31m.txt  1 B\n",
		"/etc/passwd  1 B  (an odd path)",
		"fine.txt  1 B\n", `..\up  1 B  (an odd path)`} {
		if !strings.Contains(text+"\n", want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' || hidden(r) {
			t.Errorf("%U is told", r)
		}
	}
}

func FuzzExtract(f *testing.F) {
	list, err := filepath.Glob("testdata/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range list {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Ext(name), b)
	}
	f.Add("", []byte(pageLoop))
	f.Fuzz(func(t *testing.T, ext string, b []byte) {
		d, err := Extract("a"+ext, "", b)
		var p *Problem
		if err != nil && !errors.As(err, &p) {
			t.Fatal(err)
		}
		if n := len(d.Whole()); n > maxText+maxParts*200 {
			t.Fatalf("%d bytes of text", n)
		}
	})
}
