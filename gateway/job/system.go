package job

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Declare makes the gateway's own jobs, whose declaration keys begin with a prefix,
// those that are wanted. One that is not wanted any more is switched off, so that
// its log stays; one that was never made is not made to be off.
func (b *Book) Declare(ctx context.Context, prefix string, want []protocol.CronSpec) error {
	all, _ := b.All()
	var failed error
	for _, j := range all {
		if !j.System || !strings.HasPrefix(j.DeclarationKey, prefix) {
			continue
		}
		at := -1
		for i := range want {
			if want[i].DeclarationKey == j.DeclarationKey {
				at = i
			}
		}
		if at < 0 {
			failed = errors.Join(failed, b.declare(ctx, j, off(j.CronSpec)))
			continue
		}
		failed = errors.Join(failed, b.declare(ctx, j, want[at]))
		want = append(want[:at:at], want[at+1:]...)
	}
	for _, spec := range want {
		_, _, err := b.Add(ctx, Job{CronSpec: spec, System: true})
		failed = errors.Join(failed, err)
	}
	return failed
}

func off(s protocol.CronSpec) protocol.CronSpec {
	no := false
	s.Enabled = &no
	return s
}

// declare changes one of the gateway's own jobs, if it is another one.
func (b *Book) declare(ctx context.Context, j *Job, want protocol.CronSpec) error {
	if j.State.AutoDisabled != nil && want.Enabled != nil && *want.Enabled && alike(off(j.CronSpec), off(want)) {
		return nil // it failed too often, and nothing about it is new
	}
	if alike(j.CronSpec, want) {
		return nil
	}
	_, err := b.Update(ctx, j.ID, 0, func(s *protocol.CronSpec) error { *s = want; return nil })
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// alike reports whether two definitions are written the same.
func alike(a, b protocol.CronSpec) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
