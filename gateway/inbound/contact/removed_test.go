package contact

import (
	"crypto/rand"
	"path/filepath"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// An older copy of the store that is put back lets nobody in again whom somebody
// has removed since; who was let in anew stays.
func TestFault_F_DB_07_OlderStoreLetsNobodyInAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "removed.json")
	removed := func() store.SideTable[Person] {
		b, aside, err := store.OpenSideFile(path)
		if err != nil || aside != "" {
			t.Fatal(err, aside)
		}
		return store.NewSideTable(b, "people", RemovedID)
	}
	in := func(b *Book, id string) bool {
		_, ok, err := b.Lookup("telegram", "default", id)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	letIn := func(b *Book, id string) {
		r, _, _ := ask(t, b, person(id))
		if _, err := b.Approve(t.Context(), "telegram", r.Code, Rights{}); err != nil {
			t.Fatal(err)
		}
	}
	now, _ := book(t, rand.Reader)
	older, _ := book(t, rand.Reader) // as it was yesterday
	if _, err := now.Recall(t.Context(), removed()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"gone", "back", "kept"} {
		letIn(now, id)
		letIn(older, id)
	}
	for _, id := range []string{"gone", "back"} {
		if was, err := now.Remove(t.Context(), "telegram", "default", id); err != nil || !was {
			t.Fatal(was, err)
		}
	}
	letIn(now, "back")
	n, err := older.Recall(t.Context(), removed())
	if err != nil || n != 1 || in(older, "gone") || !in(older, "back") || !in(older, "kept") {
		t.Errorf("%d taken away again, gone %v, back %v, kept %v, %v", n, in(older, "gone"), in(older, "back"), in(older, "kept"), err)
	}
	if n, err := older.Recall(t.Context(), removed()); n != 0 || err != nil {
		t.Error("told again:", n, err)
	}
}
