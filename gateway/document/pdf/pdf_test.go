package pdf

import (
	"fmt"
	"strings"
	"testing"
)

// written is a PDF of one font whose pages hold these streams.
func written(font string, pages ...string) []byte {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n3 0 obj" + font + "endobj\n2 0 obj<</Type/Pages/Count " +
		fmt.Sprint(len(pages)) + "/Resources<</Font<</F 3 0 R>>>>/Kids[")
	for i := range pages {
		fmt.Fprintf(&b, "%d 0 R ", 10+2*i)
	}
	b.WriteString("]>>endobj\n")
	for i, p := range pages {
		fmt.Fprintf(&b, "%d 0 obj<</Type/Page/Parent 2 0 R/Contents %d 0 R>>endobj\n%d 0 obj<</Length %d>>stream\n%s\nendstream endobj\n",
			10+2*i, 11+2*i, 11+2*i, len(p), p)
	}
	b.WriteString("trailer<</Root 1 0 R/Size 9999>>\nstartxref\n0\n%%EOF")
	return []byte(b.String())
}

const helvetica = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</BaseEncoding/WinAnsiEncoding/" +
	"Differences[1/fi/Lslash/uni20AC/Euro]>>>>"

// Where glyphs stand decides about spaces, columns, lines and paragraphs.
func TestPlacesBecomeText(t *testing.T) {
	for name, tt := range map[string]struct{ stream, want string }{
		"words":            {"BT /F 10 Tf 10 700 Td (Hello) Tj 40 0 Td (world) Tj ET", "Hello world"},
		"kerning":          {"BT /F 10 Tf 10 700 Td [(W) 80 (orld) -300 (is)] TJ ET", "World is"},
		"lines":            {"BT /F 10 Tf 12 TL 10 700 Td (one) Tj T* (two) Tj (three) ' ET", "one\ntwo\nthree"},
		"paragraphs":       {"BT /F 10 Tf 10 700 Td (one) Tj 0 -40 Td (two) Tj ET", "one\n\ntwo"},
		"names of glyphs":  {"BT /F 10 Tf 10 700 Td (\\001rst \\002\\003\\004) Tj ET", "first Ł€€"},
		"escapes":          {"BT /F 10 Tf 10 700 Td (a\\(b\\)\\\\\\n(c)) Tj <4142> Tj ET", "a(b)\\ (c)AB"},
		"turned":           {"BT /F 10 Tf 0 1 -1 0 50 50 Tm (side) Tj (ways) Tj ET", "sideways"},
		"a picture inside": {"BI /W 1 /H 1 ID \x01(EI)\x02 EI BT /F 10 Tf (x) Tj ET", "x"},
		"states":           {"q BT /F 10 Tf 1 0 0 1 10 10 Tm (a) Tj ET Q Q Q BT /F 10 Tf 1 0 0 1 15 10 Tm (b) Tj ET", "ab"},
		"odd operands":     {"Tj Tf (x) Tf /F Tf BT /F 10 Tf 1 Td (y) Tm [[(z)]] TJ ET cm", "z"},
	} {
		f, err := Open(written(helvetica, tt.stream))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := f.Page(1); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, tt.want)
		}
	}
}

func TestMapsOfLetters(t *testing.T) {
	m := readCMap([]byte("1 begincodespacerange <0000> <FFFF> endcodespacerange 2 beginbfchar <0003> <0020> <0004> <D83DDE00> endbfchar " +
		"2 beginbfrange <0010> <0012> <0041> <0020> <0021> [<00660069> <0062>] endbfrange"))
	for code, want := range map[int]string{3: " ", 4: "😀", 0x10: "A", 0x12: "C", 0x20: "fi", 0x21: "b", 0x22: ""} {
		if got, _ := m.find(code, 2); got != want {
			t.Errorf("%x is %q, want %q", code, got, want)
		}
	}
	if n := m.length([]byte{0, 3}); n != 2 {
		t.Errorf("codes have %d bytes", n)
	}
}

// Three hundred pages are read page by page, and a page that is damaged is one page.
func TestManyPages(t *testing.T) {
	var pages []string
	for n := range 300 {
		pages = append(pages, fmt.Sprintf("BT /F 10 Tf 10 700 Td (this is page %d) Tj ET", n+1))
	}
	f, err := Open(written(helvetica, pages...))
	if err != nil || f.Pages() != 300 {
		t.Fatal(f, err)
	}
	for n := range 300 {
		if got, err := f.Page(n + 1); err != nil || got != fmt.Sprintf("this is page %d", n+1) {
			t.Fatalf("%d: %q, %v", n+1, got, err)
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add("BT /F 10 Tf 10 700 Td [(W) 80 (orld)] TJ ET")
	f.Add("q 1 0 0 1 0 0 cm /X Do BI ID \x00 EI Q <41> Tj (\\777\\")
	f.Fuzz(func(t *testing.T, stream string) {
		if file, err := Open(written(helvetica, stream)); err == nil {
			_, _ = file.Page(1)
		}
		readCMap([]byte(stream))
	})
}
