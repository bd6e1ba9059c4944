package order

import (
	"cmp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	gocmp "github.com/google/go-cmp/cmp"
)

type row struct {
	Name string
	At   int
}

// TestBy: the same order as the standard library's stable sort, for any list.
func TestBy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got := rapid.SliceOf(rapid.Custom(func(t *rapid.T) row {
			return row{Name: rapid.StringN(0, 2, -1).Draw(t, "name"), At: rapid.IntRange(0, 5).Draw(t, "at")}
		})).Draw(t, "rows")
		want := slices.Clone(got)
		byTime := func(a, b row) int { return cmp.Compare(a.At, b.At) }
		By(got, byTime)
		slices.SortStableFunc(want, byTime)
		if d := gocmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}
