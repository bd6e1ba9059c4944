package cron

import (
	"context"
	"encoding/json"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// act does with a job what a person may say in a chat: begin it, pause it, go on,
// take it away, give it another time. Clients that only write may do that too, such
// as a phone; what a job does, and with what rights, is not theirs to change.
func (f *feature) act(ctx context.Context, p protocol.CronActParams) (out protocol.CronActed, err error) {
	id, err := idOf(protocol.MethodCronAct, p.CronIDParams)
	if err != nil {
		return out, err
	}
	only := protocol.CronIDParams{ID: id}
	var patch any
	switch p.Do {
	case "run":
		r, err := f.start(ctx, protocol.CronRunParams{CronIDParams: only, Mode: "force"})
		if err != nil {
			return out, err
		}
		out.Begun = r.Enqueued
	case "delete":
		r, err := f.remove(ctx, only)
		out.OK = r.OK
		return out, err
	case "pause", "resume":
		patch = map[string]bool{"enabled": p.Do == "resume"}
	case "plan":
		at, err := f.replanned(id, p.When)
		if err != nil {
			return out, err
		}
		patch = map[string]any{"schedule": at, "enabled": true}
	default:
		return out, protocol.InvalidParams(protocol.MethodCronAct, "do is run, pause, resume, delete or plan")
	}
	if patch != nil {
		raw, err := json.Marshal(patch)
		if err != nil {
			return out, err
		}
		if _, err := f.update(ctx, protocol.CronUpdateParams{CronIDParams: only, Patch: raw}); err != nil {
			return out, err
		}
	}
	now, err := f.get(ctx, only)
	out.OK, out.Job = err == nil, &now
	return out, err
}

// replanned is another time for a job that is due by the clock.
func (f *feature) replanned(id, when string) (protocol.CronSchedule, error) {
	j, err := f.book.Get(id)
	if err != nil {
		return protocol.CronSchedule{}, forClients(err)
	}
	if j.Plan() == nil {
		return protocol.CronSchedule{}, protocol.Invalid("This job is due by what happens, not by the clock; `hearth cron edit` changes that.")
	}
	now := f.Now().In(f.zone())
	if z := j.Plan().Zone(); z != nil && j.Schedule.TZ != "" {
		now = now.In(z)
	}
	at, err := spoken(when, now)
	if err != nil {
		return at, protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	if at.Kind == protocol.CronExpr {
		at.TZ = j.Schedule.TZ
	}
	return at, nil
}
