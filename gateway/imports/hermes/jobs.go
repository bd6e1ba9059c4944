package hermes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

type job struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Prompt   string `json:"prompt"`
	Script   string `json:"script"`
	Schedule struct {
		Kind    string  `json:"kind"`
		Expr    string  `json:"expr"`
		TZ      string  `json:"tz"`
		RunAt   string  `json:"run_at"`
		Minutes float64 `json:"minutes"`
	} `json:"schedule"`
}

// readJobs hands over the jobs that ask the assistant something.
func (h home) readJobs(context.Context) error {
	const name = "cron/jobs.json"
	raw, err := h.t.Read(name, maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var list struct {
		Jobs []job `json:"jobs"`
	}
	if err == nil && json.Unmarshal(raw, &list) != nil {
		err = json.Unmarshal(raw, &list.Jobs)
	}
	if err != nil {
		return h.give(imports.Left(imports.Jobs, name, imports.Why(err), 0))
	}
	for _, j := range list.Jobs {
		if err := h.give(j.item()); err != nil {
			return err
		}
	}
	return nil
}

func (j job) item() imports.Item {
	it := imports.Item{Kind: imports.Jobs, ID: j.ID, Name: cmp.Or(j.Name, j.ID)}
	const minute = 60_000
	s := protocol.CronSchedule{Kind: j.Schedule.Kind}
	switch j.Schedule.Kind {
	case protocol.CronExpr:
		s.Expr, s.TZ = j.Schedule.Expr, j.Schedule.TZ
	case "interval":
		s.Kind, s.EveryMs = protocol.CronEvery, int64(j.Schedule.Minutes*minute)
	case "once":
		s.Kind, s.At = protocol.CronAt, j.Schedule.RunAt
	default:
		it.Why = "nobody can tell when it is due"
	}
	if j.Script != "" {
		it.Why = "it runs a program: make it anew with `hearth cron add`"
	}
	it.Job = &protocol.CronSpec{
		Name: it.Name, Schedule: s, SessionTarget: protocol.CronIsolated, WakeMode: protocol.CronWakeNow,
		Payload: protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: j.Prompt},
	}
	return it
}
