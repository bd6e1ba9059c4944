package cron

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/schedule"
)

const (
	defaultPage = 50
	maxPage     = 200
	shownTimes  = 5
)

func idOf(method string, p protocol.CronIDParams) (string, error) {
	id := cmp.Or(p.ID, p.JobID)
	if id == "" {
		return "", protocol.InvalidParams(method, "missing id")
	}
	return id, nil
}

// describe says a job's times in words.
func (f *feature) describe(w *protocol.CronJob) {
	own := protocol.CronOwn{}
	if w.Hearth != nil {
		own = *w.Hearth
	}
	st := f.style()
	own.Words, own.Zone = schedule.Words(w.Schedule, st), cmp.Or(w.Schedule.TZ, st.ZoneName)
	if p, err := schedule.Compile(w.Schedule, schedule.Options{ID: w.ID, Zone: st.Zone, Created: w.CreatedAtMs}); err == nil {
		now := f.Now().UnixMilli()
		own.Warning = p.Warning(now)
		if w.State.NextRunAtMs != 0 {
			own.Next = append([]int64{w.State.NextRunAtMs}, p.Slots(max(now, w.State.NextRunAtMs), shownTimes-1)...)
		}
	}
	own.Warning = cmp.Or(own.Warning, f.modelWarning(w))
	f.describeWatch(w, &own)
	w.Hearth, w.EffectiveAgentID = &own, f.agentOf(&w.CronSpec)
}

// modelWarning says that a job asks a model that there is not, "" where it is there.
func (f *feature) modelWarning(w *protocol.CronJob) string {
	if w.Payload.Kind != protocol.CronAgentTurn || w.Payload.Model == "" {
		return ""
	}
	if _, ok := f.Models.Meant(f.home(&w.CronSpec), w.Payload.Model); ok {
		return ""
	}
	return fmt.Sprintf("No model here is called %s, so this job cannot ask it; `hearth models list` shows what there is.", w.Payload.Model)
}

func (f *feature) wire(j job.Job) protocol.CronJob {
	w := j.Wire()
	f.describe(&w)
	return w
}

func (f *feature) list(_ context.Context, p protocol.CronListParams) (protocol.CronList, error) {
	out := protocol.CronList{Limit: defaultPage, Offset: p.Offset, Jobs: []protocol.CronJob{}}
	if p.Limit != nil {
		out.Limit = *p.Limit
	}
	if out.Limit < 1 || out.Limit > maxPage || p.Offset < 0 {
		return out, protocol.InvalidParams(protocol.MethodCronList, "limit is 1 to %d, offset 0 or more", maxPage)
	}
	all, revision := f.book.All()
	out.SnapshotRevision = revision
	all = slices.DeleteFunc(all, func(j *job.Job) bool { return !f.fits(j, p) })
	sortJobs(all, p)
	out.Total = len(all)
	page := all[min(p.Offset, len(all)):min(p.Offset+out.Limit, len(all))]
	if next := p.Offset + len(page); next < len(all) {
		out.HasMore, out.NextOffset = true, &next
	}
	previews := !p.Compact && (p.Previews == nil || *p.Previews)
	if previews {
		out.DeliveryPreviews = map[string]protocol.CronDeliveryPreview{}
	}
	for _, j := range page {
		out.Jobs = append(out.Jobs, f.wire(*j))
		if previews {
			out.DeliveryPreviews[j.ID] = deliveryPreview(j)
		}
	}
	return out, nil
}

func deliveryPreview(j *job.Job) protocol.CronDeliveryPreview {
	d := j.Delivery
	switch {
	case d == nil:
		return protocol.CronDeliveryPreview{Label: "announce -> last", Detail: "where the conversation was held last"}
	case d.Mode == protocol.CronDeliverNone:
		return protocol.CronDeliveryPreview{Label: "not requested", Detail: "the answer stays in its session"}
	case d.Mode == protocol.CronDeliverWebhook:
		return protocol.CronDeliveryPreview{Label: "webhook", Detail: d.To}
	case d.Channel == "" || d.Channel == "last":
		return protocol.CronDeliveryPreview{Label: "announce -> last", Detail: "where the conversation was held last"}
	}
	return protocol.CronDeliveryPreview{Label: "announce -> " + d.Channel, Detail: d.To}
}

func (f *feature) fits(j *job.Job, p protocol.CronListParams) bool {
	on := j.On()
	enabled := cmp.Or(p.Enabled, map[bool]string{true: "all", false: "enabled"}[p.IncludeDisabled])
	q := strings.ToLower(strings.TrimSpace(p.Query))
	last := cmp.Or(j.State.LastRunStatus, protocol.CronUnknown)
	switch {
	case enabled == "enabled" && (!on || j.System), enabled == "disabled" && on,
		p.ScheduleKind != "" && p.ScheduleKind != "all" && p.ScheduleKind != j.Schedule.Kind,
		p.LastRunStatus != "" && p.LastRunStatus != "all" && p.LastRunStatus != last,
		p.Trigger == "conditional" && j.Trigger == nil, p.Trigger == "unconditional" && j.Trigger != nil,
		p.AgentID != "" && p.AgentID != f.agentOf(&j.CronSpec),
		p.SessionKey != "" && p.SessionKey != j.SessionKey && protocol.CronSessionPrefix+p.SessionKey != j.SessionTarget:
		return false
	}
	if q == "" {
		return true
	}
	text := strings.ToLower(strings.Join([]string{
		j.ID, j.Name, j.DisplayName, j.Description, j.Payload.Text, j.Payload.Message, j.AgentID,
	}, "\n"))
	return strings.Contains(text, q)
}

func sortJobs(all []*job.Job, p protocol.CronListParams) {
	next := func(j *job.Job) int64 { return cmp.Or(j.Planned(), 1<<62) } // never comes last
	slices.SortFunc(all, func(a, b *job.Job) int {
		var c int
		switch p.SortBy {
		case "updatedAtMs":
			c = cmp.Compare(a.UpdatedAt, b.UpdatedAt)
		case "name":
			c = cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
		default:
			c = cmp.Compare(next(a), next(b))
		}
		if p.SortDir == "desc" {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(a.ID, b.ID))
	})
}

func (f *feature) status(context.Context, method.None) (protocol.CronStatus, error) {
	all, _ := f.book.All()
	out := protocol.CronStatus{Enabled: f.limits().On, StorePath: f.DB.Path(), Jobs: len(all), Waiting: f.modelsWait()}
	for _, j := range all {
		if at := j.Planned(); at > 0 && (out.NextWakeAtMs == nil || at < *out.NextWakeAtMs) {
			out.NextWakeAtMs = &at
		}
	}
	return out, nil
}

func (f *feature) get(_ context.Context, p protocol.CronIDParams) (out protocol.CronJob, err error) {
	id, err := idOf(protocol.MethodCronGet, p)
	if err != nil {
		return out, err
	}
	j, err := f.book.Get(id)
	if err != nil {
		return out, forClients(err)
	}
	return f.wire(j), nil
}

func (f *feature) add(ctx context.Context, p protocol.CronAddParams) (out protocol.CronAdded, err error) {
	if err := f.canWork(ctx, &p.CronSpec, nil); err != nil {
		return out, protocol.InvalidParams(protocol.MethodCronAdd, "%s", err.Error())
	}
	return f.addFor(ctx, p.CronSpec, false)
}

func (f *feature) addFor(ctx context.Context, s protocol.CronSpec, guest bool) (out protocol.CronAdded, err error) {
	if err := cmp.Or(f.check(&s), f.roomToWatch(&s, "")); err != nil {
		return out, protocol.InvalidParams(protocol.MethodCronAdd, "%s", err.Error())
	}
	j, created, err := f.book.Add(ctx, job.Job{CronSpec: s, Guest: guest})
	if err != nil {
		return out, forClients(err)
	}
	out.CronJob = f.wire(j)
	preview := deliveryPreview(&j)
	out.DeliveryPreview = &preview
	if s.DeclarationKey != "" {
		same, updated := out.CronJob, !created
		out.Created, out.Updated, out.Job = &created, &updated, &same
	}
	return out, nil
}

func (f *feature) update(ctx context.Context, p protocol.CronUpdateParams) (out protocol.CronJob, err error) {
	id, err := idOf(protocol.MethodCronUpdate, p.CronIDParams)
	if err != nil {
		return out, err
	}
	was, err := f.book.Get(id)
	if err != nil {
		return out, forClients(err)
	}
	if err := kept(&was); err != nil {
		return out, err
	}
	if p.ExpectedConfigRevision != "" && p.ExpectedConfigRevision != was.Wire().ConfigRevision {
		return out, forClients(job.ErrChanged)
	}
	next, err := patched(was.CronSpec, p.Patch)
	if err == nil && !onlyOff(p.Patch) {
		err = cmp.Or(f.check(&next), f.roomToWatch(&next, id), f.canWork(ctx, &next, &was.CronSpec), f.stillComes(&next, &was))
	}
	if err != nil {
		return out, protocol.InvalidParams(protocol.MethodCronUpdate, "%s", err.Error())
	}
	j, err := f.book.Update(ctx, id, was.Revision, func(s *protocol.CronSpec) error { *s = next; return nil })
	if err != nil {
		return out, forClients(err)
	}
	return f.wire(j), nil
}

func (f *feature) remove(ctx context.Context, p protocol.CronIDParams) (out protocol.CronRemoved, err error) {
	id, err := idOf(protocol.MethodCronRemove, p)
	if err != nil {
		return out, err
	}
	if j, err := f.book.Get(id); err == nil {
		if err := kept(&j); err != nil {
			return out, err
		}
	}
	out.Removed, err = f.book.Remove(ctx, id)
	if out.OK = err == nil; err == nil && !out.Removed {
		_, err = f.book.Get(id)
	}
	return out, forClients(err)
}

func (f *feature) start(ctx context.Context, p protocol.CronRunParams) (out protocol.CronRunStarted, err error) {
	id, err := idOf(protocol.MethodCronRun, p.CronIDParams)
	if err != nil {
		return out, err
	}
	if p.ExpectedProcessInstanceID != "" && p.ExpectedProcessInstanceID != f.boot {
		return out, protocol.InvalidParams(protocol.MethodCronRun, "Gateway process changed after preflight")
	}
	j, err := f.book.Get(id)
	if err != nil {
		return out, forClients(err)
	}
	no := false
	refuse := func(reason string) (protocol.CronRunStarted, error) {
		return protocol.CronRunStarted{OK: true, Ran: &no, Reason: reason, ProcessInstanceID: f.boot}, nil
	}
	due := j.Wire().NextRunAtMs
	switch {
	case p.Mode == "if-enabled" && !j.On():
		return refuse("disabled")
	case p.Mode == "due" && (!j.On() || due == 0 || due > f.Now().UnixMilli()):
		return refuse("not-due")
	case p.Mode == "due": // it is begun as the schedule would
		f.book.Ready()
		f.book.Wake()
		return protocol.CronRunStarted{OK: true, Enqueued: true, RunID: job.RunID(j.ID, j.Next, j.Attempt), ProcessInstanceID: f.boot}, nil
	}
	for _, r := range f.book.Running(id) {
		if r.Stage != job.Delivering {
			return refuse("already-running")
		}
	}
	r, err := f.book.Start(ctx, id, f)
	if err != nil {
		return out, err
	}
	return protocol.CronRunStarted{OK: true, Enqueued: true, RunID: r.RunID, ProcessInstanceID: f.boot}, nil
}

func (f *feature) runs(_ context.Context, p protocol.CronRunsParams) (out protocol.CronRuns, err error) {
	out = protocol.CronRuns{Entries: []protocol.CronRun{}, Limit: defaultPage, Offset: p.Offset}
	if p.Limit != nil {
		out.Limit = *p.Limit
	}
	id := cmp.Or(p.ID, p.JobID)
	switch {
	case out.Limit < 1 || out.Limit > maxPage || p.Offset < 0:
		return out, protocol.InvalidParams(protocol.MethodCronRuns, "limit is 1 to %d, offset 0 or more", maxPage)
	case p.Scope == "all":
		id = ""
	case p.Scope == "job" && id == "":
		return out, protocol.InvalidParams(protocol.MethodCronRuns, "missing id")
	}
	rows, total, err := f.book.Runs(job.Query{JobID: id, Skip: p.Offset, Limit: out.Limit, Asc: p.SortDir == "asc", Fits: runFits(p)})
	if err != nil {
		return out, err
	}
	if id != "" && total == 0 {
		if _, err := f.book.Get(id); err != nil {
			return out, forClients(err)
		}
	}
	for _, r := range rows {
		out.Entries = append(out.Entries, r.Wire())
	}
	if out.Total = total; p.Offset+len(rows) < total {
		next := p.Offset + len(rows)
		out.HasMore, out.NextOffset = true, &next
	}
	return out, nil
}

func runFits(p protocol.CronRunsParams) func(r *job.Run) bool {
	statuses, deliveries := p.Statuses, p.DeliveryStatuses
	if len(statuses) == 0 && p.Status != "" && p.Status != "all" {
		statuses = []string{p.Status}
	}
	if len(deliveries) == 0 && p.DeliveryStatus != "" {
		deliveries = []string{p.DeliveryStatus}
	}
	q := strings.ToLower(strings.TrimSpace(p.Query))
	return func(r *job.Run) bool {
		return (p.RunID == "" || p.RunID == r.RunID) && (len(statuses) == 0 || slices.Contains(statuses, r.Status)) &&
			(len(deliveries) == 0 || slices.Contains(deliveries, r.DeliveryStatus)) &&
			(q == "" || strings.Contains(strings.ToLower(r.JobName+"\n"+r.Summary+"\n"+r.Error+"\n"+r.JobID), q))
	}
}

func (f *feature) scratch(_ context.Context, p protocol.CronIDParams) (out protocol.CronScratchState, err error) {
	id, err := idOf(protocol.MethodCronScratchGet, p)
	if err != nil {
		return out, err
	}
	out.MaxBytes = job.MaxScratch
	out.Scratch, out.CurrentRevision, err = f.book.Scratch(id)
	return out, forClients(err)
}

func (f *feature) setScratch(ctx context.Context, p protocol.CronScratchSetParams) (out protocol.CronScratchState, err error) {
	id, err := idOf(protocol.MethodCronScratchSet, p.CronIDParams)
	if err != nil {
		return out, err
	}
	if p.Content != nil && len(*p.Content) > job.MaxScratch {
		return out, protocol.InvalidParams(protocol.MethodCronScratchSet, "content has %d bytes, at most %d are kept",
			len(*p.Content), job.MaxScratch)
	}
	ok, err := f.book.SetScratch(ctx, id, p.Content, p.ExpectedRevision)
	if err != nil {
		return out, forClients(err)
	}
	out.Scratch, out.CurrentRevision, err = f.book.Scratch(id)
	if out.OK, out.MaxBytes = &ok, job.MaxScratch; !ok {
		out.Reason, out.Scratch, out.MaxBytes = "revision-conflict", nil, 0
	}
	return out, forClients(err)
}
