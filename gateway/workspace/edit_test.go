package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/undo"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

type copies struct {
	kept []undo.Change
	err  error
}

func (c *copies) Keep(_ context.Context, _ undo.Turn, changes []undo.Change) error {
	c.kept = append(c.kept, changes...)
	return c.err
}

// Set writes the whole file, with a copy of what was there, and not over what
// the caller has not seen.
func TestSetKeepsACopy(t *testing.T) {
	k, dir := keeper(t)
	u := &copies{}
	set := func(content, hash string) (workspace.Entry, error) {
		return k.Set(t.Context(), u, undo.Turn{RunID: "r"}, dir, "SOUL.md", content, hash)
	}
	first, err := set("one", "")
	if err != nil || first.Content != "one" || first.Missing || len(u.kept) != 1 || u.kept[0].Before != nil {
		t.Fatalf("%+v, %v, %+v", first, err, u.kept)
	}
	second, err := set("two", first.Hash)
	if err != nil || second.Hash == first.Hash || string(u.kept[1].Before.Data) != "one" {
		t.Fatalf("%+v, %v", second, err)
	}
	if _, err := set("three", first.Hash); !errors.Is(err, workspace.ErrStale) {
		t.Errorf("stale: %v", err)
	}
	u.err = errors.New("the disk is full")
	if _, err := set("four", ""); err == nil {
		t.Error("written without a copy")
	}
	if raw, _ := os.ReadFile(filepath.Join(dir, "SOUL.md")); string(raw) != "two" {
		t.Errorf("the file holds %q", raw)
	}
	if _, err := k.Set(t.Context(), u, undo.Turn{}, dir, "x.md", "", ""); !errors.Is(err, workspace.ErrUnknown) {
		t.Error(err)
	}
	if _, err := set(string(make([]byte, workspace.MaxWrite+1)), ""); !errors.Is(err, workspace.ErrTooLarge) {
		t.Error(err)
	}
}
