package document

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/isolate"
	"github.com/hearth-assistant/hearth/internal/rerun"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "isolate" {
		rerun.Exit(isolate.Main(map[string]isolate.Job{Job: Convert}))
	}
	os.Exit(m.Run())
}

// inChild reads in a process of its own, as the gateway does.
func inChild(t testing.TB) *Reader {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return New(isolate.New([]string{exe, exe, "isolate"}))
}

var update = flag.Bool("update", false, "write what is read to testdata/*.want")

// The files were made by LibreOffice and Chromium; each holds words of several
// scripts, a table and a second page. What is read of them is kept beside them.
func TestRealFiles(t *testing.T) {
	r := inChild(t)
	for _, tt := range []struct{ file, kind, unit string }{
		{"report.pdf", PDF, "page"}, {"chrome.pdf", PDF, "page"}, {"owner.pdf", PDF, "page"},
		{"report.docx", Word, ""}, {"report.odt", Word, ""}, {"report.rtf", Word, ""},
		{"report.epub", Book, "chapter"}, {"report.html", Web, ""},
		{"book.xlsx", Sheet, "sheet"}, {"book.ods", Sheet, "sheet"}, {"slides.pptx", Slides, "slide"}, {"slides.odp", Slides, "slide"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", tt.file))
			if err != nil {
				t.Fatal(err)
			}
			d, err := r.Read(t.Context(), tt.file, "", data)
			if err != nil || d.Problem != nil || d.Kind != tt.kind || d.Unit != tt.unit || tt.unit != "" && d.Total != len(d.Parts) {
				t.Fatalf("%+v, %v", d, err)
			}
			got := d.Whole() + "\n"
			name := filepath.Join("testdata", tt.file+".want")
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil || got != string(want) {
				t.Errorf("%v, read:\n%s", err, got)
			}
		})
	}
}

func TestEncodings(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"UTF-8":        {"\xef\xbb\xbfna\xc3\xafve", "naïve"},
		"UTF-16":       {"H\x00\xe4\x00l\x00l\x00o\x00\n\x00", "Hällo"},
		"Windows-1252": {"Gr\xf6\xdfe und \xc4rger f\xfcr M\xfcller\n", "Größe und Ärger für Müller"},
		"Windows-1251": {"\xcf\xf0\xe8\xe2\xe5\xf2, " +
			"\xf2\xe5\xea\xf1\xf2 \xf1 \xf0\xf3\xf1\xf1\xea\xe8\xec\xe8 \xf1\xeb\xee\xe2\xe0\xec\xe8", "Привет, текст с русскими словами"},
		"GB18030":   {"\xb8\xbd\xbc\xfe\xd6\xd0\xb5\xc4\xce\xc4\xd7\xd6\xd3\xa6\xb8\xc3\xbf\xc9\xd2\xd4\xd4\xc4\xb6\xc1", "附件中的文字应该可以阅读"},
		"Shift JIS": {"\x82\xb1\x82\xea\x82\xcd\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x83\x65\x83\x4c\x83\x58\x83\x67", "これは日本語のテキスト"},
	} {
		d, err := Extract("a.log", "", []byte(tt.in))
		if err != nil || d.Kind != Text || d.Whole() != tt.want {
			t.Errorf("%s: %q, %v, %v", name, d.Whole(), d.Notes, err)
		}
		if name != "UTF-8" && (len(d.Notes) != 1 || d.Notes[0] != "encoding "+name) {
			t.Errorf("%s is taken for %v", name, d.Notes)
		}
	}
}

// What is given fits, is made of whole parts, and says how many they are.
func TestFit(t *testing.T) {
	d := &Document{Unit: "page", Total: 3, Parts: []Part{{1, "", "one"}, {2, "", strings.Repeat("two ", 100)}, {3, "x", "three"}}}
	for most, want := range map[int]int{1000: 3, 440: 2, 420: 1, 20: 1, 13: 1, 12: 0, 5: 0} {
		text, parts := d.Fit(most)
		if parts != want || len(text) > most {
			t.Errorf("%d bytes: %d parts in %d", most, parts, len(text))
		}
	}
	if got := d.From(3, 9).Whole(); got != "[page 3: x]\nthree" {
		t.Errorf("%q", got)
	}
}

func TestMediaIsNamed(t *testing.T) {
	wav := "RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\xe2\x04\x00"
	mp4 := "\x00\x00\x00\x10ftypisom\x00\x00\x00\x00\x00\x00\x00\x74moov\x00\x00\x00\x6cmvhd" + strings.Repeat("\x00", 12) +
		"\x00\x00\x03\xe8\x00\x01\x11\x70" + strings.Repeat("\x00", 80)
	for name, tt := range map[string]struct{ data, kind, note string }{
		"wav": {wav, Audio, "WAV|0:00:20 long"}, "mp4": {mp4, Video, "MP4 or MOV|0:01:10 long"}, "ogg": {"OggS\x00OpusHead", Audio, "Opus"},
		"png": {"\x89PNG\r\n\x1a\n", Picture, ""}, "elf": {"\x7fELF\x02", Unknown, "a program"}, "7z": {"7z\xbc\xaf\x27\x1c\x00", Archive,
			"7-Zip; its content is not listed"},
	} {
		d, err := Extract("x", "", []byte(tt.data))
		if err != nil || d.Kind != tt.kind || strings.Join(d.Notes, "|") != tt.note || len(d.Parts) != 0 {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}
