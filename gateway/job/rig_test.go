package job_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// rig is a book with clocks that a test moves, and jobs that note what they did.
type rig struct {
	t    *testing.T
	db   *store.DB
	book *job.Book
	told store.Bucket[int] // by run: how often its result was delivered
	stop func()

	mu     sync.Mutex
	set    time.Duration // how far the clock on the wall was moved
	slept  time.Duration
	zone   *time.Location
	limits job.Limits
	waits  string
	asks   bool
	order  []string // runs, as they began
	late   int      // that are open now and were made up for
	most   int
	hold   chan struct{} // runs end when it is closed; nil: at once
	refuse string
	turns  func() // runs once, at the beginning of a turn of the loop
	lose   string // why results do not arrive, "" = they do
	events []protocol.CronEvent
	ids    int
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, zone: time.UTC, limits: job.Limits{On: true, AtOnce: 8, Late: 2, KeepRuns: 7 * 24 * time.Hour, RunsPerJob: 2000},
		told: store.NewBucket[int]("told")}
	db, err := store.Open(filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	r.db = db
	return r
}

func (r *rig) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Add(r.set)
}

// open opens a book, as a start of the program does.
func (r *rig) open() {
	r.t.Helper()
	began := time.Now()
	b, err := job.Open(job.Options{
		DB: r.db, Now: r.now, Zone: func() *time.Location { r.mu.Lock(); defer r.mu.Unlock(); return r.zone },
		Awake: func() (time.Duration, bool) {
			r.mu.Lock()
			defer r.mu.Unlock()
			return time.Since(began) + r.slept, true
		},
		NewID: func() string { r.mu.Lock(); defer r.mu.Unlock(); r.ids++; return fmt.Sprintf("id%d", r.ids) },
		Limits: func() job.Limits {
			r.mu.Lock()
			turns := r.turns
			r.turns = nil
			r.mu.Unlock()
			if turns != nil {
				turns()
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.limits
		},
		Changed: func(ev protocol.CronEvent) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, ev)
		},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.book = b
}

// up opens a book and looks after its jobs.
func (r *rig) up() {
	r.open()
	b := r.book
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := b.Run(ctx, r); err != nil {
			r.t.Error(err)
		}
	}()
	r.stop = func() { cancel(); <-done }
	synctest.Wait()
}

// down ends the book and the store.
func (r *rig) down() {
	r.stop()
	if err := r.db.Close(r.t.Context()); err != nil {
		r.t.Error(err)
	}
}

// sleep is a computer that sleeps: timers stand still, the wall goes on.
func (r *rig) sleep(d time.Duration) {
	r.mu.Lock()
	r.set += d
	r.slept += d
	r.mu.Unlock()
}

// turn sets the clock on the wall.
func (r *rig) turn(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set += d
}

// wait lets time pass.
func (r *rig) wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (r *rig) add(s protocol.CronSpec) job.Job {
	r.t.Helper()
	if s.Name == "" {
		s.Name = "a job"
	}
	j, _, err := r.book.Add(r.t.Context(), job.Job{CronSpec: s})
	if err != nil {
		r.t.Fatal(err)
	}
	synctest.Wait()
	return j
}

func (r *rig) began() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.order...)
}

// runs are the rows of the log, the oldest first.
func (r *rig) runs() []job.Run {
	r.t.Helper()
	out, _, err := r.book.Runs(job.Query{Limit: 10_000, Asc: true, Fits: func(*job.Run) bool { return true }})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// Begin implements job.Does.
func (r *rig) Begin(ctx context.Context, c *job.Claim) error {
	if err := c.Commit(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	r.order = append(r.order, c.Run.RunID)
	if c.Run.Late {
		r.late++
		r.most = max(r.most, r.late)
	}
	hold := r.hold
	r.mu.Unlock()
	end := func() {
		if c.Run.Late {
			r.mu.Lock()
			r.late--
			r.mu.Unlock()
		}
		if err := r.book.End(ctx, c.Run.RunID, r.result()); err != nil {
			r.t.Error(err)
		}
	}
	if hold == nil {
		end()
		return nil
	}
	go func() {
		select {
		case <-hold:
			end()
		case <-ctx.Done():
		}
	}()
	return nil
}

func (r *rig) result() job.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse == "fail" {
		return job.Result{Status: protocol.CronError, Error: "it is broken", Reason: "unknown"}
	}
	if r.refuse == "timeout" {
		return job.Result{Status: protocol.CronError, Error: "too slow", Reason: "timeout"}
	}
	return job.Result{Status: protocol.CronOK, Text: "done"}
}

// Resume implements job.Does.
func (r *rig) Resume(ctx context.Context, run job.Run) {
	switch run.Stage {
	case job.Claimed:
		r.mu.Lock()
		known := false
		for _, id := range r.order {
			known = known || id == run.RunID
		}
		r.mu.Unlock()
		if !known { // of an earlier start
			_ = r.book.End(ctx, run.RunID, r.result())
		}
	case job.Ended:
		err := r.book.Settle(ctx, run.RunID, func(tx *store.Tx, run *job.Run) error {
			n, _, err := r.told.Get(tx, []byte(run.RunID))
			if err != nil {
				return err
			}
			if run.Told(); r.lose != "" {
				run.Stage = job.Delivering
			}
			return r.told.Put(tx, []byte(run.RunID), n+1)
		})
		if err == nil && r.lose != "" {
			err = r.book.Receipt(ctx, run.RunID, false, r.lose)
		}
		if err != nil && ctx.Err() == nil {
			r.t.Error(err)
		}
	}
}

// Refuses implements job.Does.
func (r *rig) Refuses(*job.Job) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse == "fail" || r.refuse == "timeout" {
		return ""
	}
	return r.refuse
}

// Asks implements job.Does.
func (r *rig) Asks(*job.Job) bool { r.mu.Lock(); defer r.mu.Unlock(); return r.asks }

// Waits implements job.Does.
func (r *rig) Waits(*job.Job) string { r.mu.Lock(); defer r.mu.Unlock(); return r.waits }

// Tidy implements job.Does.
func (r *rig) Tidy(context.Context) {}

func every(d time.Duration) protocol.CronSpec {
	return protocol.CronSpec{Schedule: protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: d.Milliseconds()}}
}

func expr(e, zone string) protocol.CronSpec {
	return protocol.CronSpec{Schedule: protocol.CronSchedule{Kind: protocol.CronExpr, Expr: e, TZ: zone}}
}

func at(t time.Time) protocol.CronSpec {
	yes := true
	return protocol.CronSpec{
		Schedule: protocol.CronSchedule{Kind: protocol.CronAt, At: t.UTC().Format(time.RFC3339Nano)}, DeleteAfterRun: &yes,
	}
}
