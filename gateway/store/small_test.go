package store

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSmallTable(t *testing.T) {
	type cup struct{ Name, Colour string }
	db, err := Open(filepath.Join(t.TempDir(), "hearth.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.WithoutCancel(t.Context())) })
	open := func() SmallTable[cup] { return NewSmallTable(db, "cups", func(c cup) string { return c.Name }) }
	s := open()
	holds := func(want ...cup) {
		t.Helper()
		got, err := open().Load(t.Context())
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	}
	holds()
	for _, c := range []cup{{"b", "red"}, {"a", "blue"}, {"b", "green"}} {
		if err := s.Save(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	holds(cup{"a", "blue"}, cup{"b", "green"})
	for range 2 { // the second time there is nothing to forget
		if err := s.Forget(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	holds(cup{"b", "green"})
}
