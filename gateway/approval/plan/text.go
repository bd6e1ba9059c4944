package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxText is how much of one script is shown, and maxTexts of all that a
	// command runs: more than most people read, and less than clients refuse.
	maxText  = 32 << 10
	maxTexts = 48 << 10
)

// Text is a script as a person is shown it.
type Text struct {
	Path string `json:"path"`
	Hash string `json:"hash"` // SHA-256 of all of it, in hexadecimal: what the yes is bound to
	Size int64  `json:"size"` // of all of it, in bytes
	Rows int    `json:"rows"` // of all of it
	Text string `json:"text"` // safe to show; "" = it is not text, or it was not read
	Cut  bool   `json:"cut"`  // there is more of it than Text
	Why  string `json:"why"`  // there is no Text
}

// About is its size and hash, which tell it from every other.
func (t Text) About() string {
	if t.Size == 0 && t.Why != "" {
		return t.Why
	}
	return fmt.Sprintf("%d lines, %d bytes, SHA-256 %s", t.Rows, t.Size, t.Hash)
}

// Head is its first lines, and a row that says where the rest is.
func (t Text) Head(most int, rest string) []string {
	if t.Text == "" {
		return nil
	}
	rows := strings.Split(t.Text, "\n")
	if len(rows) <= most && !t.Cut {
		return rows
	}
	rows = rows[:min(most, len(rows))]
	return append(slices.Clone(rows), fmt.Sprintf("… %d more lines: %s", max(1, t.Rows-len(rows)), rest))
}

// Texts reads the scripts that a plan names. What is shown is what was hashed: a
// file that says something else now is not shown, and is refused when it is to run.
func (p Plan) Texts() []Text {
	var out []Text
	left := maxTexts
	for _, f := range p.Scripts {
		t := f.text(min(left, maxText))
		left -= len(t.Text)
		out = append(out, t)
	}
	return out
}

// text reads a script whole and keeps its beginning.
func (f File) text(most int) Text {
	t := Text{Path: oneLine(f.Path), Hash: hex.EncodeToString(f.Hash[:])}
	file, err := open(f.Path)
	if err != nil {
		t.Why = "It cannot be read now."
		return t
	}
	defer file.Close()
	sum, head, rows := sha256.New(), &start{most: most + utf8.UTFMax}, &rowCount{}
	t.Size, err = io.Copy(io.MultiWriter(sum, head, rows), io.LimitReader(file, maxHashed))
	switch {
	case err != nil:
		t.Why = "It cannot be read now."
		return t
	case [32]byte(sum.Sum(nil)) != f.Hash:
		t.Why = "It was changed while this was asked, so it will not run."
		return t
	}
	t.Rows, t.Cut = rows.total(), t.Size > int64(most)
	text := head.kept
	if t.Cut {
		text = text[:most]
		for i := 0; i < utf8.UTFMax && len(text) > 0 && !utf8.Valid(text); i++ {
			text = text[:len(text)-1] // not in the middle of a character
		}
	}
	if !utf8.Valid(text) || strings.ContainsRune(string(text), 0) {
		t.Why, t.Cut = "It is not text that can be shown.", false
		return t
	}
	t.Text = showText(string(text))
	return t
}

// showText is Show for a text of many lines. Tabs stay: they are how files are
// indented, and hide nothing.
func showText(s string) string {
	parts := strings.Split(strings.TrimSuffix(s, "\n"), "\t")
	for i, part := range parts {
		parts[i] = Show(part)
	}
	return strings.Join(parts, "\t")
}

// start keeps the beginning of what is written to it.
type start struct {
	most int
	kept []byte
}

func (s *start) Write(b []byte) (int, error) {
	s.kept = append(s.kept, b[:max(0, min(len(b), s.most-len(s.kept)))]...)
	return len(b), nil
}

// rowCount counts lines, the last one also when nothing ends it.
type rowCount struct {
	n    int
	open bool
}

func (c *rowCount) Write(b []byte) (int, error) {
	c.n += strings.Count(string(b), "\n")
	c.open = len(b) > 0 && b[len(b)-1] != '\n' || len(b) == 0 && c.open
	return len(b), nil
}

func (c *rowCount) total() int {
	if c.open {
		return c.n + 1
	}
	return c.n
}
