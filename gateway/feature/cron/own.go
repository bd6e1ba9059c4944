package cron

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/cronexpr"
	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/schedule"
	"github.com/hearth-assistant/hearth/gateway/when"
)

const (
	maxCalendar = 2000
	calendar    = 62 * 24 * time.Hour
)

func (f *feature) preview(_ context.Context, p protocol.CronPreviewParams) (protocol.CronPreview, error) {
	out := protocol.CronPreview{Next: []int64{}}
	now := f.Now().In(f.zone())
	s := p.Schedule
	if s == nil {
		if p.TZ != "" {
			z, err := schedule.Zone(p.TZ)
			if err != nil {
				out.Error = protocol.Sentence(err.Error())
				return out, nil
			}
			now, p.TZ = now.In(z), z.String()
		}
		read, err := spoken(p.Text, now)
		if err != nil {
			out.Error = protocol.Sentence(err.Error())
			return out, nil
		}
		if read.Kind == protocol.CronExpr {
			read.TZ = p.TZ
		}
		s = &read
	}
	plan, err := schedule.Compile(*s, schedule.Options{Zone: now.Location(), Created: now.UnixMilli()})
	if err == nil {
		err = plan.Calm()
	}
	if err != nil {
		out.Error = protocol.Sentence(err.Error())
		return out, nil
	}
	st := f.style()
	out.Schedule, out.Words, out.Zone = s, schedule.Words(*s, st), cmp.Or(s.TZ, st.ZoneName)
	out.Next, out.Warning = plan.Slots(now.UnixMilli(), min(max(p.Count, shownTimes), 50)), plan.Warning(now.UnixMilli())
	return out, nil
}

func (f *feature) calendar(_ context.Context, p protocol.CronCalendarParams) (protocol.CronCalendar, error) {
	out := protocol.CronCalendar{Slots: []protocol.CronSlot{}, Often: []protocol.CronSlot{}, Zone: f.Clock.ZoneName()}
	if p.ToMs <= p.FromMs || p.ToMs-p.FromMs > calendar.Milliseconds() {
		return out, protocol.InvalidParams(protocol.MethodCronCalendar, "the span has to be between nothing and 62 days")
	}
	all, _ := f.book.All()
	for _, j := range all {
		next := j.Planned()
		if next == 0 || next >= p.ToMs || j.Plan() == nil || j.System { // nobody planned those
			continue
		}
		slot := protocol.CronSlot{JobID: j.ID, Name: j.Name, AtMs: next}
		if d := j.Plan().Period(next); d > 0 && d < time.Hour {
			out.Often = append(out.Often, slot)
			continue
		}
		for ok := true; ok && slot.AtMs < p.ToMs && !out.Truncated; slot.AtMs, ok = j.Plan().Next(slot.AtMs) {
			if slot.AtMs >= p.FromMs {
				out.Slots = append(out.Slots, slot)
			}
			out.Truncated = len(out.Slots) >= maxCalendar
		}
	}
	slices.SortFunc(out.Slots, func(a, b protocol.CronSlot) int {
		return cmp.Or(cmp.Compare(a.AtMs, b.AtMs), cmp.Compare(a.JobID, b.JobID))
	})
	return out, nil
}

func (f *feature) missed(context.Context, method.None) (protocol.CronMissed, error) {
	return f.book.Missed(f.Clock.Words), nil
}

func (f *feature) resolve(ctx context.Context, p protocol.CronMissedParams) (protocol.OKResult, error) {
	err := f.book.Resolve(ctx, p.ID, p.Run)
	return protocol.OKResult{OK: err == nil}, forClients(err)
}

// snooze reminds again: a job of its own, which says the same later.
func (f *feature) snooze(ctx context.Context, p protocol.CronSnoozeParams) (out protocol.CronJob, err error) {
	at := f.Now().Add(time.Duration(cmp.Or(min(max(p.Minutes, 0), 366*24*60), 10)) * time.Minute)
	var s protocol.CronSpec
	var text string
	if p.RunID != "" {
		r, ok, err := f.book.Find(p.RunID)
		if err != nil || !ok {
			return out, cmp.Or(err, forClients(job.ErrNotFound))
		}
		s.Name, text = r.JobName, r.Summary
		if j, err := f.book.Get(r.JobID); err == nil {
			s.AgentID, s.SessionKey, s.Delivery, s.Hearth = j.AgentID, j.SessionKey, j.Delivery, j.Hearth
		}
		if err := f.book.Seen(ctx, p.RunID); err != nil {
			return out, err
		}
		f.Owner.Over(aboutReminder+p.RunID, "✓ Reminded again later")
	} else {
		id, err := idOf(protocol.MethodCronSnooze, p.CronIDParams)
		if err != nil {
			return out, err
		}
		j, err := f.book.Get(id)
		if err != nil {
			return out, forClients(err)
		}
		s, text = j.CronSpec, cmp.Or(j.Payload.Text, j.Payload.Message)
	}
	own := protocol.CronOwn{Reminder: true}
	if s.Hearth != nil {
		own.Important, own.AgainMs = s.Hearth.Important, s.Hearth.AgainMs
	}
	s.DeclarationKey, s.DeleteAfterRun, s.Enabled, s.Hearth = "", nil, nil, &own
	s.Schedule = protocol.CronSchedule{Kind: protocol.CronAt, At: at.UTC().Format(time.RFC3339)}
	s.SessionTarget, s.Payload = protocol.CronMain, protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: text}
	added, err := f.addFor(ctx, s, false)
	return added.CronJob, err
}

func (f *feature) seen(ctx context.Context, p protocol.CronSeenParams) (protocol.OKResult, error) {
	err := f.book.Seen(ctx, p.RunID)
	if err == nil {
		f.Owner.Over(aboutReminder+p.RunID, "✓ Seen")
	}
	return protocol.OKResult{OK: err == nil}, forClients(err)
}

// within finds the time that stands at the beginning or the end of what is to be
// said or done, and returns the rest.
func (f *feature) within(text string) (s protocol.CronSchedule, what string, err error) {
	plan, what, ok, err := when.Find(text, f.Now().In(f.zone()))
	switch {
	case err != nil:
		return s, what, err
	case !ok:
		return s, what, fmt.Errorf("%q names no time that Hearth understands; say when, like “in 20 minutes”, “tomorrow at 9” or "+
			"“every weekday at 9:30”, at its beginning or its end", headline(text))
	case what == "":
		return s, what, fmt.Errorf("%q says when, and not what is to be said or done then", headline(text))
	}
	return ofPlan(plan), what, nil
}

// spoken is a schedule in a person's words, or an expression.
func spoken(text string, now time.Time) (s protocol.CronSchedule, err error) {
	plan, ok, err := when.Read(text, now)
	switch {
	case err != nil:
		return s, err
	case ok:
		return ofPlan(plan), nil
	}
	if d, err := time.ParseDuration(strings.TrimSpace(text)); err == nil && d > 0 {
		return protocol.CronSchedule{Kind: protocol.CronAt, At: now.Add(d).UTC().Format(time.RFC3339)}, nil
	}
	if at, err := schedule.Instant(text); err == nil {
		if !strings.ContainsAny(text, "zZ+") { // the person's own time
			at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, now.Location())
		}
		return protocol.CronSchedule{Kind: protocol.CronAt, At: at.UTC().Format(time.RFC3339)}, nil
	}
	if _, err := cronexpr.Parse(text); err == nil {
		return protocol.CronSchedule{Kind: protocol.CronExpr, Expr: strings.TrimSpace(text)}, nil
	}
	return s, fmt.Errorf("%q is no time that Hearth understands; write it like “in 20 minutes”, “tomorrow at 9”, "+
		"“every weekday at 9:30” or “0 9 * * 1-5”", headline(text))
}
