package outbound

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// An event is delivered once while the gateway runs, although its row goes only with
// the next commit, and after an orderly end nothing is left.
func TestOutboxRowsGoWithTheNextCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	synctest.Test(t, func(t *testing.T) {
		run := func(puts ...string) (delivered []string, left int) {
			db, err := store.Open(path, store.Options{ReserveBytes: -1, NoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			o := New(db, func(ev protocol.ChatEvent) { delivered = append(delivered, ev.RunID) }, slog.New(slog.DiscardHandler))
			ctx, cancel := context.WithCancel(t.Context())
			var work sync.WaitGroup
			work.Go(func() { o.Run(ctx) })
			for _, id := range puts {
				err := db.Update(ctx, store.Write{Then: o.Wake, Do: func(tx *store.Tx) error { return o.Put(tx, protocol.ChatEvent{RunID: id}) }})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if n := o.Waiting(); n != 0 {
					t.Errorf("%d are said to wait after %s", n, id)
				}
			}
			synctest.Wait()
			_ = db.View(func(tx *store.Tx) error {
				for range o.rows.Scan(tx, store.Range{}) {
					left++
				}
				return nil
			})
			cancel()
			work.Wait()
			if err := db.Close(context.WithoutCancel(ctx)); err != nil {
				t.Fatal(err)
			}
			return delivered, left
		}
		got, left := run("a", "b", "c")
		if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" || left != 1 {
			t.Errorf("%d rows left, the last one; delivered (-want +got):\n%s", left, diff)
		}
		if got, left := run(); len(got) != 0 || left != 0 {
			t.Errorf("after an orderly end %v are delivered again, %d left", got, left)
		}
	})
}
