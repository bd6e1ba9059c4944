package incident

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

func TestIncidentsAreKept(t *testing.T) {
	db, err := store.Open(filepath.Join(t.TempDir(), "h.db"), store.Options{ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(t.Context()) }()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	l := New(t.Context(), db, func() time.Time { return now })
	for i := range 60 {
		now = now.Add(time.Minute)
		l.Note(t.Context(), "/model", fmt.Errorf("index %d out of range of \"my secret\" \xff", i))
	}
	if err := db.Update(t.Context(), store.Write{Do: func(*store.Tx) error { return nil }}); err != nil { // after what was posted
		t.Fatal(err)
	}
	all, err := l.Since(time.Time{})
	if err != nil || len(all) != keep || all[0].Where != "/model" || !strings.HasPrefix(all[keep-1].What, "index 59") {
		t.Fatalf("%d kept, the last %+v, %v", len(all), all[len(all)-1], err)
	}
	if strings.Contains(all[0].What, "secret") || all[0].Stack == "" {
		t.Errorf("%+v", all[0])
	}
	if some, err := l.Since(now.Add(-30 * time.Second)); err != nil || len(some) != 1 {
		t.Errorf("%d of the last half minute, %v", len(some), err)
	}
}
