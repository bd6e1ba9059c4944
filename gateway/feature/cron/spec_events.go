package cron

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/schedule"
)

// Bounds of a program whose lines are events.
const (
	leastBatch, usualBatch, mostBatch             = 50, 250, 5000 // milliseconds of quiet
	leastBatchSize, usualBatchSize, mostBatchSize = 1 << 10, 16 << 10, 64 << 10
	maxWatched                                    = 16 // programs that are watched at once
	maxArgs                                       = 256
	maxMatch                                      = 1000
)

// errSwitchedOff is why conditions, scripts and watched programs do not run.
var errSwitchedOff = errors.New("conditions, scripts and programs that are watched are switched off (cron.triggers.enabled)")

// checkEvent completes a schedule that is due by what a program does.
func (f *feature) checkEvent(s *protocol.CronSpec) error {
	sc := &s.Schedule
	if !watches(s) {
		return fmt.Errorf("schedules of the kind %q are not there yet", sc.Kind)
	}
	if !f.settings().Triggers {
		return errSwitchedOff
	}
	argv, err := watchedArgs(*sc)
	if err != nil {
		return err
	}
	if _, err := f.program(argv[0]); err != nil {
		return err
	}
	if sc.Kind == protocol.CronOnExit {
		sc.Mode, sc.Match, sc.BatchMs, sc.MaxBatch = "", "", 0, 0
		return nil
	}
	if s.Payload.Kind == protocol.CronCommand {
		return errors.New("a job that watches a program's lines runs no command; use a script, a message or a reminder")
	}
	switch sc.Mode {
	case "":
		sc.Mode = "line"
	case "line", "match":
	default:
		return fmt.Errorf("schedule.mode is %q; it is line or match", sc.Mode)
	}
	if _, err := matcher(*sc); err != nil {
		return err
	}
	if sc.BatchMs == 0 {
		sc.BatchMs = usualBatch
	}
	if sc.MaxBatch == 0 {
		sc.MaxBatch = usualBatchSize
	}
	sc.BatchMs, sc.MaxBatch = min(max(sc.BatchMs, leastBatch), mostBatch), min(max(sc.MaxBatch, leastBatchSize), mostBatchSize)
	return nil
}

// watchedArgs are the arguments of a watched program: a list, or a line for the
// shell.
func watchedArgs(sc protocol.CronSchedule) (argv []string, err error) {
	var line string
	switch {
	case len(sc.Command) == 0:
		return nil, errors.New("schedule.command is empty")
	case json.Unmarshal(sc.Command, &line) == nil && sc.Kind == protocol.CronOnExit:
		if argv = []string{"sh", "-lc", line}; strings.TrimSpace(line) == "" {
			return nil, errors.New("schedule.command is empty")
		}
	case json.Unmarshal(sc.Command, &argv) != nil:
		return nil, errors.New(`schedule.command is a list, such as ["tail", "-F", "/var/log/syslog"]`)
	}
	switch n := len(sc.Command); {
	case len(argv) == 0 || argv[0] == "":
		return nil, errors.New("schedule.command is empty")
	case len(argv) > maxArgs || n > maxWords:
		return nil, fmt.Errorf("schedule.command has %d bytes and %d parts, at most %d and %d are allowed", n, len(argv), maxWords, maxArgs)
	}
	return argv, nil
}

// matcher says which lines count; nil: all.
func matcher(sc protocol.CronSchedule) (*regexp.Regexp, error) {
	if sc.Mode != "match" {
		return nil, nil
	}
	if sc.Match == "" || len(sc.Match) > maxMatch {
		return nil, fmt.Errorf("schedule.match has to be an expression of 1 to %d bytes", maxMatch)
	}
	re, err := regexp.Compile(sc.Match)
	if err != nil {
		return nil, fmt.Errorf("schedule.match cannot be read: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re, nil
}

// checkTrigger refuses conditions that cannot be asked.
func (f *feature) checkTrigger(s *protocol.CronSpec) error {
	t := s.Trigger
	if t == nil {
		return nil
	}
	k := s.Schedule.Kind
	switch {
	case !f.settings().Triggers:
		return errSwitchedOff
	case strings.TrimSpace(t.Script) == "":
		return errors.New("trigger.script is empty")
	case len(t.Script) > maxScript:
		return fmt.Errorf("trigger.script has %d bytes, at most %d are allowed", len(t.Script), maxScript)
	case k != protocol.CronEvery && k != protocol.CronExpr && k != protocol.CronStream:
		return errors.New("a condition is for what is due again and again: every, cron and stream")
	case s.Payload.Kind == protocol.CronScript:
		return errors.New("a script has no condition beside it: both would keep the same state; let the script itself decide")
	}
	plan, err := schedule.Compile(s.Schedule, schedule.Options{Zone: f.zone(), Created: f.Now().UnixMilli()})
	if err == nil && plan.Period(f.Now().UnixMilli()) < job.ShortestCheck && k != protocol.CronStream {
		return fmt.Errorf("a condition is asked every %s at most", job.ShortestCheck)
	}
	return nil
}

// checkPacing refuses bounds that are none.
func checkPacing(s *protocol.CronSpec) error {
	p := s.Pacing
	if p == nil {
		return nil
	}
	if k := s.Schedule.Kind; k != protocol.CronEvery && k != protocol.CronExpr {
		return errors.New("pacing is for what is due again and again: every and cron")
	}
	if p.Min == "" && p.Max == "" {
		return errors.New("pacing needs min or max, such as 15m")
	}
	bounds := [2]time.Duration{0, 1 << 62}
	for i, v := range []string{p.Min, p.Max} {
		if v == "" {
			continue
		}
		d, err := time.ParseDuration(v)
		if err != nil || d < schedule.Shortest || d > 366*24*time.Hour {
			return fmt.Errorf("pacing is %q; write it like 15m or 4h", v)
		}
		bounds[i] = d
	}
	if bounds[0] > bounds[1] {
		return fmt.Errorf("pacing.min is %s, which is more than pacing.max, %s", p.Min, p.Max)
	}
	return nil
}

// checkScript refuses a payload that cannot run.
func (f *feature) checkScript(s *protocol.CronSpec) error {
	p := &s.Payload
	switch {
	case !f.settings().Triggers:
		return errSwitchedOff
	case strings.TrimSpace(p.Script) == "":
		return errors.New("payload.script is empty")
	case len(p.Script) > maxScript:
		return fmt.Errorf("payload.script has %d bytes, at most %d are allowed", len(p.Script), maxScript)
	case s.SessionTarget != "" && s.SessionTarget != protocol.CronMain && s.SessionTarget != protocol.CronIsolated:
		return errors.New("a script belongs to main or isolated")
	case p.ToolBudget < 0 || p.ToolBudget > maxScriptCalls:
		return fmt.Errorf("payload.toolBudget is %d; a script may make up to %d calls", p.ToolBudget, maxScriptCalls)
	}
	return nil
}
