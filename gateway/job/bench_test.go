package job_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// busy is a book over a real disk whose jobs end as soon as they have begun.
type busy struct {
	b       *testing.B
	book    *job.Book
	db      *store.DB
	ids     atomic.Int64
	mu      sync.Mutex
	claims  int
	claimed time.Duration
	did     chan struct{}
}

func newBusy(b *testing.B) *busy {
	w := &busy{b: b, did: make(chan struct{}, 1)}
	var err error
	if w.db, err = store.Open(filepath.Join(b.TempDir(), "s.db"), store.Options{ReserveBytes: -1}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = w.db.Close(context.WithoutCancel(b.Context())) })
	w.book, err = job.Open(job.Options{
		DB: w.db, Now: time.Now, Zone: func() *time.Location { return time.UTC },
		Awake: func() (time.Duration, bool) { return 0, false },
		NewID: func() string { return fmt.Sprintf("id%d", w.ids.Add(1)) },
		Limits: func() job.Limits {
			return job.Limits{On: true, AtOnce: 8, Late: 2, KeepRuns: time.Hour, RunsPerJob: 2000}
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	return w
}

// add makes n jobs that are due at a moment.
func (w *busy) add(n int, due time.Time) {
	for i := range n {
		s := at(due)
		s.Name, s.Payload = fmt.Sprintf("job %d", i), protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "x"}
		if _, _, err := w.book.Add(w.b.Context(), job.Job{CronSpec: s}); err != nil {
			w.b.Fatal(err)
		}
	}
}

func (w *busy) Begin(ctx context.Context, c *job.Claim) error {
	began := time.Now()
	if err := c.Commit(ctx); err != nil {
		return err
	}
	w.mu.Lock()
	w.claims++
	w.claimed += time.Since(began)
	w.mu.Unlock()
	return w.book.End(ctx, c.Run.RunID, job.Result{Status: protocol.CronOK, Text: "done"})
}

func (w *busy) Resume(ctx context.Context, r job.Run) {
	if r.Stage != job.Ended {
		return
	}
	if err := w.book.Settle(ctx, r.RunID, func(_ *store.Tx, r *job.Run) error { r.Told(); return nil }); err != nil {
		w.b.Error(err)
	}
	select {
	case w.did <- struct{}{}:
	default:
	}
}

func (*busy) Refuses(*job.Job) string { return "" }
func (*busy) Asks(*job.Job) bool      { return false }
func (*busy) Waits(*job.Job) string   { return "" }
func (*busy) Tidy(context.Context)    {}

// BenchmarkClaim is the claim of a slot over a real disk, of many jobs that are due
// at once: two milliseconds are its budget, of which the flush of the disk takes
// most.
func BenchmarkClaim(b *testing.B) {
	w := newBusy(b)
	w.add(b.N, time.Now())
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	b.ResetTimer()
	go func() { ended <- w.book.Run(ctx, w) }()
	for {
		if all, _ := w.book.All(); len(all) == 0 {
			break
		}
		<-w.did
	}
	b.StopTimer()
	stop()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(w.claimed.Nanoseconds())/float64(w.claims), "ns/op")
}
