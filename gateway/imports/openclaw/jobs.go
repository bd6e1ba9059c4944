package openclaw

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/imports/source"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/sqlite"
)

// jobOf is a job as both keep it: the words of a cron method, with its id.
type jobOf struct {
	ID string `json:"id"`
	protocol.CronSpec
}

// readJobs hands over the jobs. Their words are Hearth's own, so they are taken as
// they stand; what of them Hearth cannot do is told when they are made.
func (h *home) readJobs(context.Context) error {
	err := h.rows("cron_jobs", func(r *sqlite.Row) error { return h.job([]byte(r.Text("job_json")), r.Text("job_id")) })
	if err != nil {
		return err
	}
	raw, err := h.t.Read("cron/jobs.json", maxList)
	if gone(err) {
		return nil
	}
	var list struct {
		Jobs []json.RawMessage `json:"jobs"`
	}
	if err == nil && json.Unmarshal(raw, &list) != nil {
		err = source.ErrNotJSON
	}
	if err != nil {
		return h.give(imports.Left(imports.Jobs, "cron/jobs.json", imports.Why(err), 0))
	}
	for _, j := range list.Jobs {
		if err := h.job(j, ""); err != nil {
			return err
		}
	}
	return nil
}

func (h *home) job(raw []byte, id string) error {
	var j jobOf
	err := json.Unmarshal(raw, &j)
	id = cmp.Or(id, j.ID)
	if h.has["job:"+id] {
		return nil
	}
	h.has["job:"+id] = true
	it := imports.Item{Kind: imports.Jobs, ID: id, Name: cmp.Or(j.Name, id)}
	switch kind := j.Payload.Kind; {
	case err != nil:
		it.Why = "it is not written as a job is"
	case kind == protocol.CronCommand, kind == protocol.CronScript, j.Trigger != nil:
		it.Why = "it runs a program or script: make it anew with `hearth cron add`"
	case j.DeclarationKey != "" || j.Owner != nil:
		it.Why = "a part of that program made it for itself"
	default:
		spec := j.CronSpec
		spec.SessionKey, spec.Hearth = "", nil
		if spec.SessionTarget != protocol.CronMain && spec.SessionTarget != protocol.CronIsolated {
			spec.SessionTarget = protocol.CronIsolated // its conversation is not here
		}
		it.Job = &spec
	}
	return h.give(it)
}
