package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func testDocument(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "document", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Documents are read as text with marks, whole, by page and by line, as words from
// outside; what cannot be read says why.
func TestReadDocuments(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"report.pdf", "report.docx", "report.rtf", "book.xlsx", "slides.odp", "locked.pdf", "scanned.pdf"} {
		w.put(name, testDocument(t, name))
	}
	for _, tt := range []struct {
		args       m
		want, lack string
	}{
		{m{"path": "report.pdf"}, "[page 2]\nSecond page: the secret word is walnut.", ""},
		{m{"path": "report.pdf"}, "EXTERNAL_UNTRUSTED_CONTENT", ""},
		{m{"path": "report.pdf", "pages": "2"}, "[page 2]", "Quarterly"},
		{m{"path": "report.pdf", "offset": 2, "limit": 1}, "Quarterly report\n", "Revenue"},
		{m{"path": "report.docx"}, "the secret word is walnut", ""},
		{m{"path": "report.rtf"}, "the secret word is walnut", `\rtf`},
		{m{"path": "book.xlsx", "pages": "2-9"}, "[sheet 2: 第二]\nwalnut", "January"},
		{m{"path": "slides.odp"}, "Notes: Speak slowly here", ""},
		{m{"path": "locked.pdf"}, "it is protected by a password", ""},
		{m{"path": "scanned.pdf"}, "as scans are", ""},
	} {
		got := w.ok("read", tt.args).Text
		if !strings.Contains(got, tt.want) || tt.lack != "" && strings.Contains(got, tt.lack) {
			t.Errorf("%v:\n%s", tt.args, got)
		}
	}
	w.fails("read", m{"path": "report.pdf", "pages": "3"}, "has 2 pages, so there is no page 3")
	w.fails("read", m{"path": "report.pdf", "pages": "x"}, "pages is one number")
	w.fails("read", m{"path": "report.docx", "pages": "1"}, "has no pages")
	w.put("report.pdf", testDocument(t, "chrome.pdf")) // another file under the same name
	if got := w.ok("read", m{"path": "report.pdf", "pages": "1"}).Text; !strings.Contains(got, "efficient.\n\nTable") {
		t.Errorf("the old file is shown:\n%s", got)
	}
}
