package job

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// Query says which runs.
type Query struct {
	JobID string // "" = of all
	Fits  func(r *Run) bool
	Asc   bool
	Skip  int
	Limit int
}

// Runs are the finished runs that fit, a page of them, and how many there are.
func (b *Book) Runs(q Query) (out []Run, total int, err error) {
	err = b.DB.View(func(tx *store.Tx) error {
		take := func(key []byte) error {
			r, ok, err := b.t.runs.Get(tx, key)
			if err != nil || !ok || r.Stage == Checking || r.Stage == Claimed || r.Stage == Running || !q.Fits(&r) {
				return err
			}
			if total++; total > q.Skip && len(out) < q.Limit {
				out = append(out, r)
			}
			return nil
		}
		if q.JobID == "" {
			for key := range b.t.runs.ScanRaw(tx, store.Range{Reverse: !q.Asc}) {
				if err := take(key); err != nil {
					return err
				}
			}
			return nil
		}
		prefix := []byte(q.JobID + "\x00")
		for key := range b.t.byJob.ScanRaw(tx, store.Range{Prefix: prefix, Reverse: !q.Asc}) {
			if err := take(key[len(prefix):]); err != nil {
				return err
			}
		}
		return nil
	})
	return out, total, err
}

// Since sums up what the runs of a job cost since a moment, and how many they were.
func (b *Book) Since(jobID string, from int64) (runs int, cost float64) {
	_ = b.DB.View(func(tx *store.Tx) error {
		prefix := []byte(jobID + "\x00")
		for key := range b.t.byJob.ScanRaw(tx, store.Range{Prefix: prefix, Reverse: true}) {
			r, ok, err := b.t.runs.Get(tx, key[len(prefix):])
			if err != nil || ok && r.RunAtMs < from {
				return err
			}
			if ok && r.Status != "skipped" && r.Stage != Checking {
				runs, cost = runs+1, cost+r.Cost
			}
		}
		return nil
	})
	return runs, cost
}

// prune forgets old runs. The slot that a job dealt with last is kept in the job.
func (l *loop) prune(ctx context.Context, limits Limits) {
	before := l.Now().Add(-limits.KeepRuns).UnixMilli()
	err := l.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		var old []Run
		perJob := map[string]int{}
		for row, err := range l.t.runs.Scan(tx, store.Range{Reverse: true}) {
			if err != nil {
				return err
			}
			r := row.Value
			if perJob[r.JobID]++; !r.Open() && (r.TS < before || perJob[r.JobID] > limits.RunsPerJob) {
				old = append(old, r)
			}
		}
		for _, r := range old[:min(len(old), 1000)] {
			if err := l.t.runs.Delete(tx, store.Uint64Key(r.Seq)); err != nil {
				return err
			}
			if err := l.t.ids.Delete(tx, []byte(r.RunID)); err != nil {
				return err
			}
			if err := l.t.byJob.Delete(tx, jobKey(r.JobID, r.Seq)); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil && ctx.Err() == nil {
		l.Logger.Warn("old runs of jobs could not be forgotten", "err", err)
	}
}

// Start begins a run by hand; the schedule goes on as it was.
func (b *Book) Start(ctx context.Context, id string, does Does) (Run, error) {
	j, err := b.Get(id)
	if err != nil {
		return Run{}, err
	}
	c := b.claim(j, 0)
	return c.Run, does.Begin(ctx, c)
}
