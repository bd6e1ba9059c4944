package i18n

import (
	"cmp"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Texts says in a language what the gateway and the command line say in English: what
// goes wrong, or what commands and settings of networks are. Its methods may be called
// from several goroutines.
//
// A sentence is found by its text: what was put into it is where a template of the
// catalogue has a place. So whatever stands in the database, comes from an older
// gateway or was said by another program is understood too, and what is not known
// stays as it is.
type Texts struct {
	words *Words
	read  func() []errorTemplate
}

// errorTemplate is a text of the catalogue.
type errorTemplate struct {
	key    string
	pieces []string // in English, around what is put in, without a full stop
	places []string // the names of what is put in, one fewer
	own    int      // how much text of its own it has
}

// OpenErrors takes what goes wrong in the first of the wanted languages that there are
// words for in files, as OpenHelp does, or English.
func OpenErrors(files fs.FS, wanted ...string) (*Texts, error) {
	return openTexts(files, "errors.json", wanted)
}

// OpenAbout takes what commands and settings of networks are likewise.
func OpenAbout(files fs.FS, wanted ...string) (*Texts, error) {
	return openTexts(files, "about.json", wanted)
}

func openTexts(files fs.FS, part string, wanted []string) (*Texts, error) {
	w, err := open(files, part, wanted)
	if err != nil {
		return nil, err
	}
	e := &Texts{words: w}
	e.read = sync.OnceValue(e.templates)
	return e, nil
}

// templates are those with the most text of their own first.
func (e *Texts) templates() (out []errorTemplate) {
	for key, text := range e.words.english {
		text = strings.TrimSuffix(text, ".")
		one, at := errorTemplate{key: key}, 0
		for _, m := range slot.FindAllStringSubmatchIndex(text, -1) {
			one.pieces = append(one.pieces, text[at:m[0]])
			one.places = append(one.places, text[m[2]:m[3]])
			at = m[1]
		}
		one.pieces = append(one.pieces, text[at:])
		for _, p := range one.pieces {
			one.own += len(p)
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b errorTemplate) int {
		return cmp.Or(b.own-a.own, strings.Compare(a.key, b.key))
	})
	return out
}

// find is what was put into the template to make text of it, whatever letter begins
// it. Each piece is taken where it stands first and the last one at the end, so that
// the time it takes grows with the text and no faster; a space alone where a sentence
// ends, if one does.
func (t *errorTemplate) find(text string) (values []string, ok bool) {
	first, last := t.pieces[0], t.pieces[len(t.pieces)-1]
	if len(text) < t.own || !begins(text, first) {
		return nil, false
	}
	if len(t.places) == 0 {
		return nil, len(text) == len(first)
	}
	rest := text[len(first):]
	for _, p := range t.pieces[1 : len(t.pieces)-1] {
		at := strings.Index(rest, p)
		if p == " " {
			if end := sentenceEnd.FindStringIndex(rest); end != nil {
				at = end[0] + 1
			}
		}
		if at < 0 {
			return nil, false
		}
		values, rest = append(values, rest[:at]), rest[at+len(p):]
	}
	value, ok := strings.CutSuffix(rest, last)
	return append(values, value), ok
}

// begins: text begins with piece, whose first letter may be a capital or not.
func begins(text, piece string) bool {
	if piece == "" || strings.HasPrefix(text, piece) {
		return true
	}
	a, n := utf8.DecodeRuneInString(text)
	b, m := utf8.DecodeRuneInString(piece)
	return n == m && unicode.ToLower(a) == unicode.ToLower(b) && strings.HasPrefix(text[n:], piece[m:])
}

// nested is how deep an error is looked for in what was put into another one. Nothing
// longer than longest is looked for: it is no sentence.
const (
	nested  = 6
	longest = 2000
)

// Say is a text in the language.
func (e *Texts) Say(text string) string {
	if e.words.Language() == English || text == "" || len(text) > longest {
		return text
	}
	if said, ok := e.say(text, nested); ok {
		return said
	}
	return text
}

func (e *Texts) say(text string, depth int) (said string, ok bool) {
	if depth == 0 {
		return "", false
	}
	bare, whole := strings.CutSuffix(text, ".")
	for _, t := range e.read() {
		values, ok := t.find(bare)
		if !ok {
			continue
		}
		args := make([]any, 0, 2*len(values))
		for i, value := range values {
			if inner, ok := e.say(value, depth-1); ok {
				value = e.inside(inner)
			}
			args = append(args, t.places[i], value)
		}
		return e.ended(e.words.Say(t.key, args...), text, whole), true
	}
	// Who passed it on has said before it what they were doing.
	if before, rest, found := strings.Cut(text, ": "); found {
		if inner, ok := e.say(rest, depth-1); ok {
			return e.words.foreign(before) + ": " + inner, true
		}
	}
	// Several sentences are found one by one.
	if at := sentenceEnd.FindStringIndex(text); at != nil {
		one, rest := text[:at[0]+1], text[at[0]+2:]
		first, known := e.say(one, depth-1)
		others, more := e.say(rest, depth-1)
		if known || more {
			return e.orElse(first, known, one) + " " + e.orElse(others, more, rest), true
		}
	}
	return "", false
}

var sentenceEnd = regexp.MustCompile("[.!?] [\\p{Lu}`(]")

func (e *Texts) orElse(said string, ok bool, text string) string {
	if ok {
		return said
	}
	return e.words.foreign(text)
}

// inside is what was said as a part of another sentence, whatever letter it begins with.
func (e *Texts) inside(said string) string {
	if !e.words.rightToLeft {
		return said
	}
	return rightToLeftIsolate + said + popIsolate
}

// ended is said begun and ended as text is: as a sentence or as a part of one.
func (e *Texts) ended(said, text string, whole bool) string {
	first, _ := utf8.DecodeRuneInString(text)
	if r, n := utf8.DecodeRuneInString(said); unicode.IsUpper(first) && unicode.IsLower(r) {
		said = string(unicode.ToUpper(r)) + said[n:]
	}
	bare := strings.TrimRight(said, ".。।")
	switch {
	case !whole:
		return bare
	case bare != said:
		return said
	case e.words.Language() == "ja" || e.words.Language() == "zh-CN":
		return said + "。"
	case e.words.Language() == "hi":
		return said + "।"
	}
	return said + "."
}
