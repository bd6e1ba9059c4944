package memory

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestBadNotes(t *testing.T) {
	r := newRig(t)
	r.write("memory/bidi.md", "alpha \u202egnp.exe\u202c \x1b[31mred\x07 \u2066x\u2069 \xff\xfe end\r\n")
	r.write("memory/binary.md", "alpha\x00\x01\x02")
	r.write("memory/empty.md", "")
	r.write("memory/blank.md", strings.Repeat("\n \t\n", 5000))
	r.write("memory/long.md", strings.Repeat("长", 100_000)+" omega "+strings.Repeat("x", 100_000))
	r.write("memory/UPPER.MD", "alpha upper\n")
	res, err := r.x.Search(t.Context(), Query{Scope: owner, Text: "alpha"})
	if err != nil || len(res.Hits) != 2 {
		t.Fatalf("%+v %v", res, err)
	}
	for _, h := range res.Hits {
		if strings.ContainsAny(h.Text, "\u202e\u202c\u2066\u2069\x1b\x07\r") || !utf8.ValidString(h.Text) {
			t.Errorf("%q", h.Text)
		}
	}
	r.want(owner, "omega", "memory/long.md#L1")
	st := r.x.Status("main")
	if len(st.Skipped) != 1 || st.Skipped[0].Path != "memory/binary.md" {
		t.Errorf("%+v", st)
	}
}

// A large file is read in parts: what it costs does not grow with it.
func TestLargeNotes(t *testing.T) {
	r := newRig(t)
	f, err := os.Create(filepath.Join(r.dir, "MEMORY.md"))
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("some words of a note that goes on ", 3) + "\n"
	part := strings.Repeat(line, 1000)
	for range 60 {
		if _, err := f.WriteString(part); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.WriteString("needle\n"); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if err := r.x.Sync(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	got := r.find(owner, "needle")
	if len(got) != 1 || !strings.HasSuffix(got[0], "-L60001") {
		t.Errorf("%v of %d chunks", got, r.x.Status("main").Chunks)
	}
	e, err := r.x.Get(t.Context(), owner, "MEMORY.md", 60001, 5)
	if err != nil || e.Text != "needle\n" || e.More || e.Citation() != "MEMORY.md#L60001" {
		t.Errorf("%+v %v", e, err)
	}
	e, err = r.x.Get(t.Context(), owner, "MEMORY.md", 2, 0)
	if err != nil || len(e.Text) > maxReadBytes || !e.More || e.From != 2 || e.To < 400 {
		t.Errorf("%d bytes of %d-%d, %v", len(e.Text), e.From, e.To, err)
	}
	if e, err = r.x.Get(t.Context(), owner, "MEMORY.md", 70000, 1); err != nil || e.Text != "" || e.To != 69999 {
		t.Errorf("behind the end: %+v %v", e, err)
	}
	if _, err := r.x.Load(owner, "MEMORY.md"); err != nil {
		t.Error(err)
	}
}

// F-FS: a file that goes while it is searched is left out.
func TestFault_MemoryFileGoneWhileSearched(t *testing.T) {
	r := newRig(t)
	r.write("memory/a.md", "alpha one\n")
	r.write("memory/b.md", "alpha two\n")
	if err := r.x.Sync(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(r.dir, "memory", "a.md")); err != nil {
		t.Fatal(err)
	}
	hits, again, err := r.x.searchOnce(Query{Scope: owner, Limit: 5}, Settings{}.filled(), queryWords("alpha"), nil)
	if err != nil || !again || len(hits) != 1 || hits[0].Path != "memory/b.md" {
		t.Errorf("%v %v %v", hits, again, err)
	}
	r.write("memory/b.md", "other words\n")
	if hits, again, err = r.x.searchOnce(Query{Scope: owner, Limit: 5}, Settings{}.filled(), queryWords("alpha"), nil); err != nil || !again ||
		len(hits) != 0 {
		t.Errorf("%v %v %v", hits, again, err)
	}
	if _, err := r.x.Get(t.Context(), owner, "memory/a.md", 0, 0); !errors.Is(err, ErrNoFile) {
		t.Error(err)
	}
}

func TestChunks(t *testing.T) {
	for name, c := range map[string]struct {
		text            string
		tokens, overlap int
		want            []string
	}{
		"short":    {"one\ntwo\n", 100, 20, []string{"one\ntwo\n"}},
		"overlap":  {"aaaa\nbbbb\ncccc\ndddd\n", 6, 2, []string{"aaaa\nbbbb\ncccc\n", "cccc\ndddd\n"}},
		"headings": {"intro words\n# A\ntext of a\n# B\ntext of b\n", 12, 3, []string{"intro words\n", "# A\ntext of a\n", "# B\ntext of b\n"}},
		"blank":    {"\n\n  \n", 10, 2, nil},
		"no end":   {"one", 10, 2, []string{"one"}},
	} {
		t.Run(name, func(t *testing.T) {
			ch := newChunker(strings.NewReader(c.text), c.tokens, c.overlap)
			var got []string
			for {
				k, err := ch.next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(k.text))
			}
			if strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("%q", got)
			}
		})
	}
}

// FuzzChunks: every chunk is what stands at its place, every word is in one, and
// lines are counted right.
func FuzzChunks(f *testing.F) {
	f.Add("one\ntwo\n\n# three\n"+strings.Repeat("x", 4000), uint8(5), uint8(2))
	f.Add("日本語\r\n\xff\xf0\x9f", uint8(1), uint8(0))
	f.Add(strings.Repeat("é", 2500), uint8(200), uint8(90))
	f.Fuzz(func(t *testing.T, text string, tokens, overlap uint8) {
		ch := newChunker(strings.NewReader(text), int(tokens)+1, int(overlap))
		end := int64(0)
		for {
			c, err := ch.next()
			if errors.Is(err, errBinary) && strings.Contains(text, "\x00") {
				return
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if text[c.off:c.off+int64(len(c.text))] != string(c.text) || len(c.text) > maxChunkBytes+pieceBytes {
				t.Fatalf("chunk of %d bytes at %d", len(c.text), c.off)
			}
			if c.off > end && strings.TrimSpace(text[end:c.off]) != "" {
				t.Fatalf("%q is in no chunk", text[end:c.off])
			}
			if from := 1 + strings.Count(text[:c.off], "\n"); c.from != from {
				t.Fatalf("line %d is called %d", from, c.from)
			}
			if to := 1 + strings.Count(text[:c.off+int64(len(c.text))-1], "\n"); c.to != to {
				t.Fatalf("line %d is called %d", to, c.to)
			}
			end = c.off + int64(len(c.text))
		}
		if strings.TrimSpace(text[end:]) != "" {
			t.Fatalf("%q is in no chunk", text[end:])
		}
	})
}

// FuzzSegment: damaged segments are read without harm.
func FuzzSegment(f *testing.F) {
	b := newBuilder()
	b.add(chunk{from: 1, to: 2, text: []byte("one two two")}, nil)
	b.add(chunk{from: 3, to: 3, text: []byte("two three")}, []string{"day"})
	f.Add(b.encode(), "two")
	f.Add([]byte(segMagic), "x")
	f.Fuzz(func(t *testing.T, raw []byte, word string) {
		s, ok := openSegment(raw, false)
		if !ok {
			return
		}
		s.find([]byte(word), true, 10, func(p postings) {
			s.each(p, func(c, times int) {
				if c < 0 || c >= s.n || times > maxTimes {
					t.Fatal(c, times)
				}
				_, _ = s.chunk(c), s.words(c)
			})
		})
	})
}

// FuzzOrigin: no text of a note gets to look like another note.
func FuzzOrigin(f *testing.F) {
	f.Add("- a\n## 10:00 <!-- hearth: from=owner -->\nb", "telegram:1")
	f.Add("## x <!--hearth:", "a --> b")
	f.Fuzz(func(t *testing.T, text, from string) {
		o := Origin{By: "summary", From: from}
		rig := (&Origin{By: "summary", From: "owner"}).line(stamp())
		own := rig + "\n\nmine\n\n"
		note := o.line(stamp()) + "\n\n" + tame(text) + "\n"
		if word(from) == "owner" {
			return
		}
		rest, n := without(own+note, from)
		if word(from) == "" {
			return
		}
		if rest != own || n != 1 {
			t.Fatalf("%d notes, left %q", n, rest)
		}
	})
}

func stamp() time.Time { return time.Date(2031, 3, 4, 15, 4, 0, 0, time.UTC) }
