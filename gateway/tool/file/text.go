package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/http"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding is how a file writes its text down. It is kept when the file changes.
type encoding int

const (
	utf8Plain encoding = iota
	utf8BOM
	utf16LE
	utf16BE
	latin1
)

func (e encoding) String() string {
	return [...]string{"UTF-8", "UTF-8 with BOM", "UTF-16 LE", "UTF-16 BE", "Latin-1"}[e]
}

const (
	bom    = "\xef\xbb\xbf"
	bomLE  = "\xff\xfe"
	bomBE  = "\xfe\xff"
	sample = 64 << 10 // what is looked at to tell text from other files
)

// kindOf looks at the beginning of a file. mime is set when it is no text.
func kindOf(head []byte) (enc encoding, mime string) {
	switch {
	case bytes.HasPrefix(head, []byte(bom)):
		return utf8BOM, ""
	case bytes.HasPrefix(head, []byte(bomLE)):
		return utf16LE, ""
	case bytes.HasPrefix(head, []byte(bomBE)):
		return utf16BE, ""
	}
	if len(head) > sample {
		head = head[:sample]
		for i := 0; i < utf8.UTFMax-1 && !utf8.RuneStart(head[len(head)-1]); i++ {
			head = head[:len(head)-1]
		}
		head = head[:len(head)-1]
	}
	sniffed := http.DetectContentType(head)
	if bytes.IndexByte(head, 0) >= 0 {
		return 0, sniffed
	}
	if !strings.HasPrefix(sniffed, "text/") && sniffed != "application/octet-stream" {
		return 0, sniffed // it looks like text at first, a PDF does
	}
	if utf8.Valid(head) {
		return utf8Plain, ""
	}
	control := 0
	for _, c := range head {
		if c < 0x20 && !strings.ContainsRune("\t\n\r\f\x1b", rune(c)) || c >= 0x7f && c < 0xa0 {
			control++
		}
	}
	if control*20 > len(head) {
		return 0, "application/octet-stream"
	}
	return latin1, ""
}

// decode returns the text of a file without its byte order mark.
func (e encoding) decode(raw []byte) string {
	switch e {
	case utf8BOM:
		return string(raw[len(bom):])
	case utf16LE:
		return fromUTF16(raw[2:], binary.LittleEndian)
	case utf16BE:
		return fromUTF16(raw[2:], binary.BigEndian)
	case latin1:
		var b strings.Builder
		b.Grow(len(raw) + len(raw)/8)
		for _, c := range raw {
			b.WriteRune(rune(c))
		}
		return b.String()
	}
	return string(raw)
}

func fromUTF16(raw []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = order.Uint16(raw[2*i:])
	}
	return string(utf16.Decode(units))
}

var errNoLatin1 = errors.New("the file is Latin-1, and the new text has characters that Latin-1 lacks; write the whole file anew to " +
	"make it UTF-8")

// encode is decode's way back.
func (e encoding) encode(s string) ([]byte, error) {
	switch e {
	case utf8BOM:
		return append([]byte(bom), s...), nil
	case utf16LE:
		return toUTF16([]byte(bomLE), s, binary.LittleEndian), nil
	case utf16BE:
		return toUTF16([]byte(bomBE), s, binary.BigEndian), nil
	case latin1:
		out := make([]byte, 0, len(s))
		for _, r := range s {
			if r > 0xff {
				return nil, errNoLatin1
			}
			out = append(out, byte(r))
		}
		return out, nil
	}
	return []byte(s), nil
}

func toUTF16(out []byte, s string, order binary.AppendByteOrder) []byte {
	for _, u := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

// crlf reports whether most lines end in CR LF.
func crlf(s string) bool {
	n := strings.Count(s, "\r\n")
	return n > 0 && 2*n > strings.Count(s, "\n")
}

func toLF(s string) string {
	if !strings.Contains(s, "\r\n") {
		return s
	}
	return strings.ReplaceAll(s, "\r\n", "\n")
}

// toEnding gives text the line ends of its file.
func toEnding(s string, crlf bool) string {
	s = toLF(s)
	if crlf {
		s = strings.ReplaceAll(s, "\n", "\r\n")
	}
	return s
}
