package process

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// Whatever comes in whatever pieces: the beginning and the end are kept, and
// what is missing is counted.
func TestOutputKeepsBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep := rapid.IntRange(2, 40).Draw(t, "keep")
		o := newOutput(keep)
		var all []byte
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 60), 0, 12).Draw(t, "pieces") {
			piece := make([]byte, n)
			for i := range piece {
				piece[i] = byte('a' + (len(all)+i)%26)
			}
			all = append(all, piece...)
			o.write(piece)
		}
		from := int64(rapid.IntRange(0, len(all)).Draw(t, "from"))
		got := o.since(from)
		if got.Total != int64(len(all)) || int64(len(got.Head)+len(got.Tail))+got.Dropped != got.Total-from {
			t.Fatalf("%d bytes from %d: %+v", len(all), from, got)
		}
		if want := all[from:]; !bytes.HasPrefix(want, got.Head) || !bytes.HasSuffix(want, got.Tail) {
			t.Fatalf("%+v is not the ends of %q", got, want)
		}
		if from == 0 && len(got.Head)+len(got.Tail) != min(keep, len(all)) {
			t.Fatalf("%d kept of %d, room for %d", len(got.Head)+len(got.Tail), len(all), keep)
		}
	})
}
