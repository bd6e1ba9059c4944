// Package secret holds the words of keys, tokens and passwords: a text that
// never prints, where a setting says that one is found, and what a place that
// keeps them can do. The places themselves are in the folders below, and
// keeper chooses between them. It reads nothing and stores nothing itself.
package secret

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"
	"unique"
)

// Marker stands for a secret wherever one is shown.
const Marker = "__HEARTH_REDACTED__"

// Secret is a text that must not reach a log, an error, a file or a client.
// Every way of printing or writing it gives the marker; Reveal is the only way
// to the text. Even in a private field of another type, where fmt asks no
// method, it shows no more than an address: that is what the handle is for.
// Secrets can be compared with ==.
type Secret struct{ text unique.Handle[string] }

// New wraps a text.
func New(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{unique.Make(text)}
}

// Reveal gives the text. Each call of it is a place to look at.
func (s Secret) Reveal() string {
	if s.IsZero() {
		return ""
	}
	return s.text.Value()
}

// IsZero says that there is no text.
func (s Secret) IsZero() bool { return s == Secret{} }

// Equal compares in constant time.
func (s Secret) Equal(o Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(o.Reveal())) == 1
}

func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return Marker
}

// GoString covers %#v.
func (s Secret) GoString() string { return s.String() }

// Format covers every verb of fmt, %x and %#v included.
func (s Secret) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, s.String()) }

// LogValue is what log/slog prints.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON keeps the value out of every answer and file.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// MarshalText does so for encodings that ask for text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// maxClean is the longest secret that is pasted or typed.
const maxClean = 64 << 10

// Clean makes a secret of what somebody pasted: spaces and line breaks around
// it, and quotation marks that came with it, are no part of it, and neither is a
// line break in the middle of a key that a terminal wrapped. What cannot be a
// key is explained, without showing it.
func Clean(pasted string) (Secret, error) {
	s := strings.TrimFunc(pasted, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' || r == '\u200B' })
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		s = strings.TrimSpace(s[1 : n-1])
	}
	if !strings.HasPrefix(s, "-----BEGIN ") && !strings.HasPrefix(s, "{") {
		s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "")
	}
	switch {
	case s == "":
		return Secret{}, &InputError{"it is empty"}
	case len(s) > maxClean:
		return Secret{}, &InputError{"it is longer than 64 KB, which no key is"}
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\r' && r != '\t' ||
			r == 0x7f
	}):
		return Secret{}, &InputError{"it holds characters that cannot be typed; copy the key again, as text"}
	case strings.Contains(s, Marker) || strings.Contains(s, "[redacted]"):
		return Secret{}, &InputError{"it is the sign that stands for a hidden key, not the key; copy the key from the service that gave it to " +
			"you"}
	}
	return New(s), nil
}

// CleanKey is Clean for keys of services, which are one word.
func CleanKey(pasted string) (Secret, error) {
	s, err := Clean(pasted)
	if err != nil {
		return s, err
	}
	t := s.Reveal()
	switch {
	case strings.HasPrefix(strings.ToLower(t), "bearer "):
		return CleanKey(t[len("bearer "):])
	case strings.HasPrefix(t, "http://") || strings.HasPrefix(t, "https://"):
		return Secret{}, &InputError{"it is a web address; the key is what the page behind it shows"}
	case strings.ContainsFunc(t, unicode.IsSpace):
		return Secret{}, &InputError{"there are spaces in it; a key is one word, so copy only the key"}
	case strings.ContainsAny(t, "…•*") || strings.Contains(t, "..."):
		return Secret{}, &InputError{"it is shortened (with dots or stars); services show the whole key only once, so make a new one there if " +
			"it is gone"}
	case strings.ContainsFunc(t, func(r rune) bool { return r > unicode.MaxASCII }):
		return Secret{}, &InputError{"there are letters in it that keys do not have; copy it again"}
	case len(t) < 8:
		return Secret{}, &InputError{"it is too short for a key; copy all of it"}
	}
	return s, nil
}

// InputError says why a text is no secret. It never holds the text.
type InputError struct{ Reason string }

func (e *InputError) Error() string { return "this is not usable as a key: " + e.Reason }
