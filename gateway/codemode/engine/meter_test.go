package engine

import (
	"bytes"
	"testing"
)

const (
	opI32Const = 0x41
	typeNone   = 0x40
	typeI32    = 0x7f
)

// TestSec_A_BOX_Metered: every loop counts, and every function that another
// one can be entered from, in whatever way it calls.
func TestSec_A_BOX_Metered(t *testing.T) {
	check := countdown()
	for name, c := range map[string]struct {
		body []byte
		want int
	}{
		"nothing":         {[]byte{0, opEnd}, 0},
		"a loop":          {[]byte{0, opLoop, typeNone, opEnd, opEnd}, 1},
		"two loops":       {[]byte{0, opLoop, typeNone, opLoop, typeNone, opEnd, opEnd, opEnd}, 2},
		"a call":          {[]byte{0, opCall, 5, opEnd}, 1},
		"by the table":    {[]byte{0, opI32Const, 0, 0x11, 0, 0, opEnd}, 1},
		"a loop of calls": {[]byte{1, 1, typeI32, opLoop, typeNone, opCall, 5, opEnd, opEnd}, 2},
		"what looks like": {[]byte{0, opI32Const, opCall, 0x1a, opEnd}, 0},
	} {
		if got := bytes.Count(meter(nil, c.body), check); got != c.want {
			t.Errorf("%s counts %d times, not %d", name, got, c.want)
		}
	}
}
