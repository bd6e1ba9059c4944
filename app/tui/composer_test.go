package tui

import (
	"strings"
	"testing"
)

func TestComposerKeys(t *testing.T) {
	for _, tc := range []struct{ name, text, keys, want string }{
		{"typing", "", "type:héllo", "héllo|"},
		{"a family is one character", "a👩‍👩‍👧b", "left left backspace", "|👩‍👩‍👧b"},
		{"delete a family", "a👩‍👩‍👧b", "left backspace", "a|b"},
		{"combined", "e\u0301x", "left backspace", "|x"},
		{"words", "one two  three", "alt+left alt+left", "one |two  three"},
		{"word right", "one two", "ctrl+a alt+right", "one| two"},
		{"cut a word", "one two", "ctrl+w", "one |"},
		{"cut to the ends", "one\ntwo", "left ctrl+k ctrl+u", "one\n|"},
		{"lines", "one\ntwo", "home", "one\n|two"},
		{"up", "one\ntwo", "up left", "on|e\ntwo"},
		{"up into a shorter line", "a\nlonger", "up", "a|\nlonger"},
		{"down", "one\ntwo", "ctrl+a up ctrl+a down", "one\n|two"},
		{"join lines", "one\ntwo", "home backspace", "one|two"},
		{"delete at the end", "one", "delete", "one|"},
		{"backspace at the start", "one", "ctrl+a backspace left", "|one"},
		{"a row of a wrapped line", strings.Repeat("x", 25), "up", strings.Repeat("x", 15) + "|" + strings.Repeat("x", 10)},
	} {
		var c composer
		c.set(tc.text)
		for _, k := range strings.Fields(tc.keys) {
			if s, ok := strings.CutPrefix(k, "type:"); ok {
				c.insert(s)
				continue
			}
			c.key(k, 10)
		}
		if got := c.text[:c.at] + "|" + c.text[c.at:]; got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestSec_A_TTY_02_Paste(t *testing.T) {
	var c composer
	c.insert("a\r\nb\tc\x1b[2J\x1b]52;c;x\x07\u202ed\xff")
	if want := "a\nb    cd"; c.text != want {
		t.Errorf("%q, want %q", c.text, want)
	}
}

func FuzzComposer(f *testing.F) {
	f.Add("hello wörld\n👩‍👩‍👧", "lrbdULwk", 7)
	f.Fuzz(func(t *testing.T, text, keys string, w int) {
		if len(text) > 500 || len(keys) > 100 {
			t.Skip()
		}
		names := map[rune]string{'l': "left", 'r': "right", 'b': "backspace", 'd': "delete", 'U': "up", 'D': "down", 'L': "alt+left",
			'R': "alt+right", 'w': "ctrl+w", 'k': "ctrl+k", 'u': "ctrl+u", 'h': "home", 'e': "end"}
		var c composer
		c.insert(text)
		w = 2 + max(0, w)%80
		for _, k := range keys {
			c.key(names[k], w)
			if c.at < 0 || c.at > len(c.text) {
				t.Fatalf("the cursor is at %d of %d", c.at, len(c.text))
			}
			rows := c.rows(w)
			y, x := c.place(rows)
			if y < 0 || y >= len(rows) || x < 0 {
				t.Fatalf("the cursor is drawn at %d, %d of %d rows", x, y, len(rows))
			}
			all := 0
			for _, r := range rows {
				all += r.to - r.from
			}
			if all+strings.Count(c.text, "\n") != len(c.text) {
				t.Fatalf("%q is drawn with %d bytes", c.text, all)
			}
		}
	})
}
