package job

import (
	"context"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Limits of what waits for a job that is due by what happens.
const (
	maxPending = 1000 // items of a job
	maxTaken   = 50   // by one run
	maxItem    = 8 << 10
)

// ErrPending: so much waits for a job already that no more is noted now.
var ErrPending = fmt.Errorf("%d items wait for this job already", maxPending)

// Item is something that happened, by which a job is due: what it watches changed,
// or the program that it waits for ended or printed lines. Its words are from
// outside. Items wait on disk, and the next run takes them.
type Item struct {
	Title string `json:"title"`
	Text  string `json:"text,omitempty"`
	Link  string `json:"link,omitempty"`
	At    int64  `json:"at"`
	Seq   uint64 `json:"seq"`
	Since int64  `json:"since"` // the activation of the schedule that it belongs to
	// Last: nothing more will happen, and the job is disabled with the run.
	Last bool `json:"last,omitempty"`
	// Problem: what was waited for can never happen; the run is that failure.
	Problem string `json:"problem,omitempty"`
}

// Activated is when the schedule that now holds began to hold: what was noticed
// for an earlier one does not count.
func (j *Job) Activated() int64 { return j.State.ScheduleActivatedAtMs }

// Happened notes in one transaction that something happened, and, by also (nil:
// nothing), what was seen. A run takes all that waits, as soon as one may begin.
// ErrChanged: the schedule is another one now, or the job is switched off.
func (b *Book) Happened(ctx context.Context, id string, activated int64, items []Item, also func(tx *store.Tx) error) error {
	var j Job
	err := b.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) (err error) {
		j, err = b.editIn(tx, id, func(j *Job) error {
			if !j.On() || j.Activated() != activated || j.timed() {
				return ErrChanged
			}
			if len(items) == 0 {
				return nil
			}
			waiting, err := b.pendingIn(tx, j, maxPending)
			if err != nil {
				return err
			}
			if len(waiting)+len(items) > maxPending {
				return ErrPending
			}
			for _, e := range items {
				if err := b.putItem(tx, j, e); err != nil {
					return err
				}
			}
			if j.Next == 0 {
				j.Next = max(b.Now().UnixMilli(), j.Slot+1)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if also == nil {
			return nil
		}
		return also(tx)
	}})
	if err != nil {
		return err
	}
	if len(items) > 0 {
		b.keep(j, false)
		b.Wake()
	}
	return nil
}

func (b *Book) putItem(tx *store.Tx, j *Job, e Item) (err error) {
	if e.Seq == 0 {
		if e.Seq, err = b.t.items.NextSeq(tx); err != nil {
			return err
		}
		e.At, e.Since = b.Now().UnixMilli(), j.Activated()
		most := maxItem
		if j.Schedule.Kind != protocol.CronWatch { // one of a program is a whole batch of lines
			most = maxText
		}
		e.Title, e.Text, e.Link = cut(e.Title, maxSummary), cut(e.Text, most), cut(e.Link, maxSummary)
	}
	return b.t.items.Put(tx, jobKey(j.ID, e.Seq), e)
}

// pendingIn are the items that wait for a job, the oldest first.
func (b *Book) pendingIn(tx *store.Tx, j *Job, most int) (out []Item, err error) {
	for row, err := range b.t.items.Scan(tx, store.Range{Prefix: []byte(j.ID + "\x00")}) {
		if err != nil {
			return nil, fmt.Errorf("read what happened: %w", err)
		}
		if row.Value.Since == j.Activated() && len(out) < most {
			out = append(out, row.Value)
		}
	}
	return out, nil
}

// pending is what a run of a job would take now.
func (b *Book) pending(j *Job) (out []Item) {
	if j.timed() {
		return nil
	}
	err := b.DB.View(func(tx *store.Tx) (err error) {
		out, err = b.pendingIn(tx, j, maxTaken)
		return err
	})
	if err != nil {
		b.Logger.Warn("what a job waits for could not be read", "job", j.ID, "err", err)
	}
	for i := range out { // a failure is a run of its own, after what happened before it
		if out[i].Problem != "" {
			return out[:max(i, 1)]
		}
	}
	return out
}

// Idle reports whether nothing has happened to a job that its runs have not dealt
// with.
func (b *Book) Idle(id string) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if j, ok := b.jobs[id]; !ok || j.Next != 0 {
		return false
	}
	for _, r := range b.open {
		if r.JobID == id && r.Stage != Delivering {
			return false
		}
	}
	return true
}

// take gives items to the run that is claimed, and plans the next where more
// waits. What belongs to an earlier schedule is forgotten.
func (b *Book) take(tx *store.Tx, j *Job, items []Item) error {
	for _, e := range items {
		if !b.t.items.Has(tx, jobKey(j.ID, e.Seq)) {
			return ErrTaken
		}
		if err := b.t.items.Delete(tx, jobKey(j.ID, e.Seq)); err != nil {
			return err
		}
		if e.Last {
			off := false
			j.Enabled = &off
		}
	}
	left, err := b.pendingIn(tx, j, 1)
	if err == nil && len(left) == 0 {
		return b.forgetItems(tx, j.ID)
	}
	j.Next = max(b.Now().UnixMilli(), j.Slot+1)
	return err
}

// putBack lets what a run had taken happen again, for the next try.
func (b *Book) putBack(tx *store.Tx, j *Job, r *Run) error {
	var err error
	for _, e := range r.Items {
		err = errors.Join(err, b.putItem(tx, j, e))
	}
	return err
}

func (b *Book) forgetItems(tx *store.Tx, id string) error {
	var keys [][]byte
	for key := range b.t.items.ScanRaw(tx, store.Range{Prefix: []byte(id + "\x00")}) {
		keys = append(keys, append([]byte(nil), key...))
	}
	for _, k := range keys {
		if err := b.t.items.Delete(tx, k); err != nil {
			return err
		}
	}
	return nil
}

// timed reports whether the clock says when it is due.
func (j *Job) timed() bool {
	switch j.Schedule.Kind {
	case protocol.CronOnExit, protocol.CronStream, protocol.CronWatch:
		return false
	}
	return true
}

// Watched notes how what a job waits for stands: a program that runs, or does not
// any more.
func (b *Book) Watched(ctx context.Context, id string, revision int64, note func(*protocol.CronJobState)) error {
	j, err := b.edit(ctx, id, func(j *Job) error {
		if j.Revision != revision {
			return ErrChanged
		}
		note(&j.State)
		return nil
	})
	if err != nil {
		return err
	}
	b.tell(protocol.CronEvent{JobID: id, Action: "updated"}, &j)
	return nil
}
