package job

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/schedule"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Add makes a job, whose schedule was understood. With a declaration key that is
// there, that job becomes what is said.
func (b *Book) Add(ctx context.Context, j Job) (out Job, created bool, err error) {
	now := b.Now().UnixMilli()
	if j.DeclarationKey != "" {
		if old, ok := b.declared(j.DeclarationKey); ok {
			out, err = b.Update(ctx, old.ID, 0, func(spec *protocol.CronSpec) error { *spec = j.CronSpec; return nil })
			return out, false, err
		}
	}
	if j.ID == "" {
		j.ID = b.NewID()
	}
	j.CreatedAt, j.UpdatedAt, j.Revision = now, now, 1
	b.compile(&j)
	if err := b.replan(&j, now); err != nil {
		return Job{}, false, err
	}
	err = b.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		if b.t.jobs.Count(tx) >= MaxJobs {
			return ErrTooMany
		}
		return b.t.jobs.Put(tx, []byte(j.ID), j)
	}})
	if err != nil {
		return Job{}, false, err
	}
	b.keep(j, true)
	b.tell(protocol.CronEvent{JobID: j.ID, Action: "added", NextRunAtMs: j.Planned()}, &j)
	b.Wake()
	return j, true, nil
}

func (b *Book) declared(key string) (Job, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, j := range b.jobs {
		if j.DeclarationKey == key {
			return *j, true
		}
	}
	return Job{}, false
}

// replan computes the next slot from a moment on, leaving out those that were
// run.
func (b *Book) replan(j *Job, from int64) error {
	j.Next, j.NotBefore, j.Attempt = 0, 0, 0
	j.State.ScheduleActivatedAtMs = from
	if j.plan == nil {
		_, err := schedule.Compile(j.Schedule, schedule.Options{ID: j.ID, Zone: b.Zone(), Created: j.CreatedAt})
		if errors.Is(err, schedule.ErrNoTime) {
			return nil
		}
		return err
	}
	next, ok := j.plan.Next(from)
	if !ok && j.plan.Once() {
		if at, _ := schedule.Instant(j.Schedule.At); j.Slot != at.UnixMilli() {
			next, ok = at.UnixMilli(), true // it is over: due at once
		}
	}
	if ok {
		j.Next = next
	}
	return nil
}

// Update changes the definition of a job; revision 0 is any.
func (b *Book) Update(ctx context.Context, id string, revision int64, change func(*protocol.CronSpec) error) (Job, error) {
	j, err := b.edit(ctx, id, func(j *Job) error {
		if revision != 0 && revision != j.Revision {
			return ErrChanged
		}
		was, on, script := j.Schedule, j.On(), scriptOf(&j.CronSpec)
		if err := change(&j.CronSpec); err != nil {
			return err
		}
		now := b.Now().UnixMilli()
		j.Revision++
		j.UpdatedAt = now
		b.compile(j)
		if script != scriptOf(&j.CronSpec) {
			j.State.TriggerState = nil // of another script
		}
		if !same(was, j.Schedule) || on != j.On() {
			j.State.AutoDisabled, j.State.ConsecutiveErrors, j.BadTimes = nil, 0, 0
			j.State.StreamStatus, j.State.StreamError, j.State.StreamFailures, j.State.StreamExhausted = "", "", 0, false
			j.State.StreamLastStartedAtMs, j.State.StreamLastExitAtMs = 0, 0
			if j.On() {
				return b.replan(j, now)
			}
		}
		return nil
	})
	if err != nil {
		return Job{}, err
	}
	b.mu.Lock()
	b.edits++
	delete(b.asked, id)
	b.mu.Unlock()
	b.tell(protocol.CronEvent{JobID: j.ID, Action: "updated", NextRunAtMs: j.Planned()}, &j)
	b.Wake()
	return j, nil
}

// scriptOf is the script of a job that keeps a state.
func scriptOf(s *protocol.CronSpec) string {
	if s.Trigger != nil {
		return s.Trigger.Script
	}
	return s.Payload.Script
}

// edit changes a job in a transaction.
func (b *Book) edit(ctx context.Context, id string, change func(*Job) error) (j Job, err error) {
	err = b.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) (err error) {
		j, err = b.editIn(tx, id, change)
		return err
	}})
	if err != nil {
		return Job{}, err
	}
	b.keep(j, false)
	return j, nil
}

func (b *Book) editIn(tx *store.Tx, id string, change func(*Job) error) (Job, error) {
	j, ok, err := b.t.jobs.Get(tx, []byte(id))
	if err != nil {
		return j, err
	}
	if !ok {
		return j, fmt.Errorf("automation not found: %s: %w", short(id), ErrNotFound)
	}
	b.compile(&j)
	if err := change(&j); err != nil {
		return j, err
	}
	j.Writes++
	return j, b.t.jobs.Put(tx, []byte(id), j)
}

// keep takes over what is durable.
func (b *Book) keep(j Job, edited bool) {
	b.compile(&j)
	b.mu.Lock()
	defer b.mu.Unlock()
	if was := b.jobs[j.ID]; was == nil || was.Writes <= j.Writes {
		b.jobs[j.ID] = &j
	}
	if edited {
		b.edits++
	}
}

// Remove takes a job away; a run that is open comes to its end.
func (b *Book) Remove(ctx context.Context, id string) (removed bool, err error) {
	j, err := b.Get(id)
	if err != nil {
		return false, nil
	}
	err = b.DB.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error { return b.removeIn(tx, id) }})
	if err != nil {
		return false, err
	}
	b.forget(id)
	b.tell(protocol.CronEvent{JobID: id, Action: "removed"}, &j)
	b.Wake()
	return true, nil
}

func (b *Book) removeIn(tx *store.Tx, id string) error {
	if err := b.t.scratch.Delete(tx, []byte(id)); err != nil {
		return err
	}
	if err := b.forgetItems(tx, id); err != nil {
		return err
	}
	return b.t.jobs.Delete(tx, []byte(id))
}

func (b *Book) forget(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.jobs, id)
	delete(b.asked, id)
	b.edits++
}

func same(a, b protocol.CronSchedule) bool {
	eq := func(x, y *int64) bool { return x == y || x != nil && y != nil && *x == *y }
	return a.Kind == b.Kind && a.At == b.At && a.EveryMs == b.EveryMs && a.Expr == b.Expr && a.TZ == b.TZ && a.Cwd == b.Cwd &&
		a.Mode == b.Mode && a.Match == b.Match && string(a.Command) == string(b.Command) && eq(a.AnchorMs, b.AnchorMs) &&
		a.BatchMs == b.BatchMs && a.MaxBatch == b.MaxBatch && reflect.DeepEqual(a.Watch, b.Watch) && eq(a.StaggerMs, b.StaggerMs)
}

// Scratch is what a job keeps from run to run; nil: nothing.
func (b *Book) Scratch(id string) (s *protocol.CronScratch, revision int64, err error) {
	if _, err := b.Get(id); err != nil {
		return nil, 0, err
	}
	err = b.DB.View(func(tx *store.Tx) error {
		v, ok, err := b.t.scratch.Get(tx, []byte(id))
		if ok {
			revision = v.Revision
			if v.UpdatedAtMs != 0 {
				s = &v
			}
		}
		return err
	})
	return s, revision, err
}

// SetScratch replaces it; nil takes it away. ok is false when it is not the one
// that was expected.
func (b *Book) SetScratch(ctx context.Context, id string, content *string, expected *int64) (ok bool, err error) {
	if content != nil && len(*content) > MaxScratch {
		return false, fmt.Errorf("the scratch has %d bytes, at most %d are kept", len(*content), MaxScratch)
	}
	if _, err := b.Get(id); err != nil {
		return false, err
	}
	err = b.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		v, _, err := b.t.scratch.Get(tx, []byte(id))
		if err != nil {
			return err
		}
		if ok = expected == nil || *expected == v.Revision; !ok {
			return nil
		}
		v.Revision++
		v.Content, v.UpdatedAtMs = "", 0
		if content != nil {
			v.Content, v.UpdatedAtMs = *content, b.Now().UnixMilli()
		}
		return b.t.scratch.Put(tx, []byte(id), v)
	}})
	return ok, err
}

// tell says what happened to a job.
func (b *Book) tell(ev protocol.CronEvent, j *Job) {
	if j != nil {
		w := j.Wire()
		ev.Job = &w
	}
	b.Changed(ev)
}

// Wire is the job as clients see it.
func (j *Job) Wire() protocol.CronJob {
	on := j.On()
	out := protocol.CronJob{ID: j.ID, CronSpec: j.CronSpec, CreatedAtMs: j.CreatedAt, UpdatedAtMs: j.UpdatedAt, State: j.State,
		ConfigRevision: fmt.Sprintf("%s-%d", j.ID, j.Revision)}
	out.Enabled = &on
	if j.System {
		own := j.Own()
		own.System = true
		out.Hearth = &own
	}
	s := &out.State
	s.NextRunAtMs, s.LastStatus = j.Planned(), s.LastRunStatus
	out.NextRunAtMs, out.LastRunAtMs, out.LastRunStatus, out.LastRunError = s.NextRunAtMs, s.LastRunAtMs, s.LastRunStatus, s.LastError
	out.LastDelivered, out.LastDeliveryStatus, out.LastDeliveryError = s.LastDelivered, s.LastDeliveryStatus, s.LastDeliveryError
	return out
}
