package protocol

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Limits of any JSON from outside, checked by one pass before anything is
// decoded: a hostile value costs a scan, never an allocation of its shape.
const (
	MaxKeys      = 10_000 // object members in one message, all levels together
	MaxElements  = 100_000
	MaxNumberLen = 64
)

// scanError says where a text stops being acceptable JSON.
type scanError struct {
	reason string
	// syntax is true when the text is not JSON at all, false when it is JSON
	// that we refuse to take.
	syntax bool
}

func (e *scanError) Error() string { return e.reason }

// ScanJSON checks that data is one JSON value inside our limits: valid UTF-8,
// at most MaxDepth levels, MaxKeys members, numbers of MaxNumberLen bytes, no
// member twice in one object and no half of a surrogate pair.
func ScanJSON(data []byte) error {
	if err := scanJSON(data); err != nil {
		return err
	}
	return nil
}

func scanJSON(data []byte) *scanError {
	s := scanner{data: data}
	s.space()
	if err := s.value(0); err != nil {
		return err
	}
	s.space()
	if s.pos != len(data) {
		return syntaxError("text after the JSON value")
	}
	if !utf8.Valid(data) {
		return refused("text is not valid UTF-8")
	}
	return nil
}

func syntaxError(reason string) *scanError { return &scanError{reason: reason, syntax: true} }
func refused(reason string) *scanError     { return &scanError{reason: reason} }

type scanner struct {
	data     []byte
	pos      int
	keys     int
	elements int
	// names are the raw member names of the objects that are open.
	names [][]byte
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, 0 at the end (which is no valid JSON byte).
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) value(depth int) *scanError {
	switch c := s.peek(); {
	case c == '{' || c == '[':
		if depth >= MaxDepth {
			return refused("nested more than 64 levels deep")
		}
		if c == '{' {
			return s.object(depth)
		}
		return s.array(depth)
	case c == '"':
		_, err := s.str()
		return err
	case c == '-' || isDigit(c):
		return s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	}
	return syntaxError("not a JSON value")
}

func (s *scanner) object(depth int) *scanError {
	s.pos++
	s.space()
	first := len(s.names)
	defer func() { s.names = s.names[:first] }()
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	var seen map[string]struct{}
	for {
		if s.keys++; s.keys > MaxKeys {
			return refused("more than 10000 object members")
		}
		name, err := s.member(depth)
		if err != nil {
			return err
		}
		if seen, err = s.addName(first, name, seen); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
			s.space()
		case '}':
			s.pos++
			return nil
		default:
			return syntaxError("an object is not closed")
		}
	}
}

// member scans one "name": value and returns the name's raw bytes.
func (s *scanner) member(depth int) ([]byte, *scanError) {
	if s.peek() != '"' {
		return nil, syntaxError("an object member has no name")
	}
	name, err := s.str()
	if err != nil {
		return nil, err
	}
	s.space()
	if s.peek() != ':' {
		return nil, syntaxError("an object member has no value")
	}
	s.pos++
	s.space()
	return name, s.value(depth + 1)
}

// addName records a member name and refuses a second one: two readers of the
// same text must never disagree about which of them counts.
func (s *scanner) addName(first int, name []byte, seen map[string]struct{}) (map[string]struct{}, *scanError) {
	const linear = 16 // below this many members comparing is cheaper than hashing
	if bytes.IndexByte(name, '\\') >= 0 {
		var plain string
		if json.Unmarshal(append(append([]byte{'"'}, name...), '"'), &plain) == nil {
			name = []byte(plain)
		}
	}
	if seen == nil {
		for _, n := range s.names[first:] {
			if bytes.Equal(n, name) {
				return nil, refused("an object has the same member twice")
			}
		}
		s.names = append(s.names, name)
		if len(s.names)-first < linear {
			return nil, nil
		}
		seen = make(map[string]struct{}, 4*linear)
		for _, n := range s.names[first:] {
			seen[string(n)] = struct{}{}
		}
		return seen, nil
	}
	if _, twice := seen[string(name)]; twice {
		return nil, refused("an object has the same member twice")
	}
	seen[string(name)] = struct{}{}
	return seen, nil
}

func (s *scanner) array(depth int) *scanError {
	s.pos++
	s.space()
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		if s.elements++; s.elements > MaxElements {
			return refused("more than 100000 array elements")
		}
		if err := s.value(depth + 1); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
			s.space()
		case ']':
			s.pos++
			return nil
		default:
			return syntaxError("an array is not closed")
		}
	}
}

// str scans a string and returns the raw bytes between the quotes.
func (s *scanner) str() ([]byte, *scanError) {
	s.pos++
	start := s.pos
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return s.data[start : s.pos-1], nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		case c < 0x20:
			return nil, syntaxError("a control character in a string")
		default:
			s.pos++
		}
	}
	return nil, syntaxError("a string is not closed")
}

func (s *scanner) escape() *scanError {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
	default:
		return syntaxError("an unknown escape in a string")
	}
	r, ok := s.hex4()
	switch {
	case !ok:
		return syntaxError("a broken \\u escape in a string")
	case r >= 0xDC00 && r <= 0xDFFF:
		return refused("half of a surrogate pair in a string")
	case r < 0xD800 || r > 0xDBFF:
		return nil
	}
	if s.peek() != '\\' {
		return refused("half of a surrogate pair in a string")
	}
	s.pos++
	if s.peek() != 'u' {
		return refused("half of a surrogate pair in a string")
	}
	if low, ok := s.hex4(); !ok || low < 0xDC00 || low > 0xDFFF {
		return refused("half of a surrogate pair in a string")
	}
	return nil
}

// hex4 reads the digits after "u".
func (s *scanner) hex4() (rune, bool) {
	if s.pos+5 > len(s.data) {
		return 0, false
	}
	var r rune
	for _, c := range s.data[s.pos+1 : s.pos+5] {
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	s.pos += 5
	return r, true
}

func (s *scanner) number() *scanError {
	start := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	switch {
	case s.peek() == '0':
		s.pos++
	case !s.digits():
		return syntaxError("a number without digits")
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return syntaxError("a number without digits")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return syntaxError("a number without digits")
		}
	}
	if s.pos-start > MaxNumberLen {
		return refused("a number longer than 64 digits")
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for isDigit(s.peek()) {
		s.pos++
	}
	return s.pos > start
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (s *scanner) literal(word string) *scanError {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		return syntaxError("not a JSON value")
	}
	s.pos += len(word)
	return nil
}
