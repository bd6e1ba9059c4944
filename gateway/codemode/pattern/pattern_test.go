package pattern

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// assembled is a program with the header that the guest's compiler writes.
func assembled(flags uint16, captures, stack byte, code ...byte) []byte {
	b := binary.LittleEndian.AppendUint16(nil, flags)
	b = binary.LittleEndian.AppendUint32(append(b, captures, stack), uint32(len(code)))
	return append(b, code...)
}

func i32(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }

// anywhere is how programs begin that try every place.
var anywhere = slices.Concat([]byte{opSplitGotoFirst}, i32(6), []byte{opAny, opGoto}, i32(-11))

// repeated is body+ for a body that takes one character.
func repeated(body ...byte) []byte {
	return slices.Concat([]byte{opSimpleGreedyQuant}, i32(len(body)+1), i32(1), i32(1<<31-1), i32(1), body, []byte{opMatch})
}

// word is /(\w+)@/.
var word = assembled(0, 2, 0, slices.Concat(anywhere, []byte{opSaveStart, 0, opSaveStart, 1},
	repeated(opRange, 4, 0, '0', 0, '9', 0, 'A', 0, 'Z', 0, '_', 0, '_', 0, 'a', 0, 'z', 0),
	[]byte{opSaveEnd, 1, opChar8, '@', opSaveEnd, 0, opMatch})...)

// endless is /(?:a*)*b/ without the test that keeps it from standing still.
var endless = assembled(0, 1, 0, slices.Concat([]byte{opSplitNextFirst}, i32(5), []byte{opGoto}, i32(-10), []byte{opMatch})...)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name    string
		program []byte
		text    string
		start   int
		want    Outcome
		bounds  []int32
	}{
		{"match", word, "foo bar@baz", 0, Match, []int32{4, 8, 4, 7}},
		{"from a place within", word, "foo bar@baz", 5, Match, []int32{5, 8, 5, 7}},
		{"no match", word, "foo bar baz", 0, NoMatch, nil},
		{"behind the text", word, "foo", 4, NotOurs, nil},
		{"no program", word[:8], "foo", 0, NotOurs, nil},
		{"cut off", word[:len(word)-1], "foo", 0, NotOurs, nil},
		{"no instruction", assembled(0, 1, 0, 99), "foo", 0, NotOurs, nil},
		{"a jump outside", assembled(0, 1, 0, append([]byte{opGoto}, i32(-100)...)...), "foo", 0, NotOurs, nil},
		{"a capture outside", assembled(0, 1, 0, opSaveStart, 7, opMatch), "foo", 0, NotOurs, nil},
		{"the end is missing", assembled(0, 1, 0, opAny), "foo", 0, NotOurs, nil},
	} {
		var m Matcher
		if got := m.Run(c.program, []byte(c.text), false, c.start); got != c.want {
			t.Errorf("%s: %d, not %d", c.name, got, c.want)
		} else if got == Match && !slices.Equal(m.Captures, c.bounds) {
			t.Errorf("%s: %v", c.name, m.Captures)
		}
	}
}

var errEnough = errors.New("enough")

// TestSec_A_BOX_08_ExpressionsAsk: what runs for ever asks, and what the
// answer panics with ends it.
func TestSec_A_BOX_08_ExpressionsAsk(t *testing.T) {
	var m Matcher
	asked := 0
	m.Ask = func() {
		if asked++; asked == 3 {
			panic(errEnough)
		}
	}
	defer func() {
		if r := recover(); r != errEnough || asked != 3 {
			t.Errorf("it ended with %v after %d questions", r, asked)
		}
	}()
	loop := assembled(0, 1, 0, append([]byte{opGoto}, i32(-5)...)...)
	t.Errorf("it gave %d", m.Run(loop, nil, false, 0))
}

// TestSec_A_BOX_08_ExpressionsHaveRoom: what needs too much memory goes back
// to the guest, whose memory is counted.
func TestSec_A_BOX_08_ExpressionsHaveRoom(t *testing.T) {
	var m Matcher
	if got := m.Run(endless, nil, false, 0); got != NotOurs {
		t.Errorf("it gave %d", got)
	}
	if m.frames != nil {
		t.Errorf("it keeps %d frames", cap(m.frames))
	}
}

// FuzzRun: any bytes end, and end well.
func FuzzRun(f *testing.F) {
	f.Add(word, []byte("foo bar@baz"), false, 0)
	f.Add(endless, []byte("aaa"), true, 1)
	f.Fuzz(func(t *testing.T, program, text []byte, wide bool, start int) {
		if wide {
			text = text[:len(text)/2*2]
		}
		var m Matcher
		asked := 0
		m.Ask = func() {
			if asked++; asked > 20 {
				panic(errEnough)
			}
		}
		defer func() {
			if r := recover(); r != nil && r != errEnough {
				panic(r)
			}
		}()
		if m.Run(program, text, wide, start) == Match {
			for _, at := range m.Captures {
				if at < -1 || int(at) > len(text) {
					t.Errorf("a bound at %d of %d", at, len(text))
				}
			}
		}
	})
}

func BenchmarkWord(b *testing.B) {
	text := []byte{}
	for range 2000 {
		text = append(text, "foo bar baz com qux "...)
	}
	var m Matcher
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if m.Run(word, text, false, 0) != NoMatch {
			b.Fatal("a match")
		}
	}
}

// TestSec_A_BOX_KeptProgram: what is known of the last program holds for the
// same bytes only, also where they lie in the same place and are as long.
func TestSec_A_BOX_KeptProgram(t *testing.T) {
	var m Matcher
	lies := slices.Clone(word)
	sign := slices.Index(lies, byte('@'))
	for i, c := range []struct {
		sign byte
		text string
		wide bool
		want Outcome
	}{
		{'@', "foo@", false, Match},
		{'@', "foo@", false, Match},
		{'#', "foo@", false, NoMatch},
		{'#', "foo#", false, Match},
		{'#', "f\x00o\x00#\x00", true, Match},
		{'#', "foo#", false, Match},
		{'@', "f\x00o\x00#\x00", true, NoMatch},
		{'@', "foo@", false, Match},
	} {
		lies[sign] = c.sign
		if got := m.Run(lies, []byte(c.text), c.wide, 0); got != c.want {
			t.Errorf("%d: %q gave %d", i, c.text, got)
		}
	}
	long := assembled(0, 1, 0, append(bytes.Repeat([]byte{opAny}, keptCode), opMatch)...)
	if got := m.Run(long, make([]byte, keptCode), false, 0); got != Match || len(m.kept) != 0 {
		t.Errorf("a long program gave %d, %d bytes of it are kept", got, len(m.kept))
	}
}
