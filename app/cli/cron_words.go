package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

// moment is a time near now in words, in the zone of this machine's person.
func moment(ms int64, now time.Time) string {
	if ms == 0 {
		return "-"
	}
	at := time.UnixMilli(ms).In(now.Location())
	midnight := func(t time.Time) time.Time { y, m, d := t.Date(); return time.Date(y, m, d, 12, 0, 0, 0, time.UTC) }
	clock := at.Format("15:04")
	switch days := int(midnight(at).Sub(midnight(now)).Hours() / 24); {
	case days == 0:
		return "today " + clock
	case days == 1:
		return "tomorrow " + clock
	case days == -1:
		return "yesterday " + clock
	case days > 1 && days < 7:
		return at.Format("Monday 15:04")
	case at.Year() == now.Year():
		return at.Format("Mon 2 Jan 15:04")
	}
	return at.Format("2 Jan 2006 15:04")
}

func jobName(j *protocol.CronJob) string {
	if j.DisplayName != "" {
		return j.DisplayName
	}
	return j.Name
}

func isOff(j *protocol.CronJob) bool { return j.Enabled != nil && !*j.Enabled }

// nextWords says when a job is due next.
func nextWords(j *protocol.CronJob, now time.Time) string {
	switch {
	case j.State.AutoDisabled != nil && isOff(j):
		return "off, it failed"
	case isOff(j):
		return "off"
	case j.State.RunningAtMs > 0:
		return "running"
	case j.Schedule.Kind == protocol.CronOnExit, j.Schedule.Kind == protocol.CronStream, j.Schedule.Kind == protocol.CronWatch:
		return "when it happens"
	}
	words := moment(j.State.NextRunAtMs, now)
	if j.State.NextRunAtMs > 0 && otherZone(j, now) != "" {
		words += time.UnixMilli(j.State.NextRunAtMs).In(now.Location()).Format(" MST")
	}
	return words
}

// otherZone is the zone of a schedule's times where clocks show something else than here,
// "" otherwise.
func otherZone(j *protocol.CronJob, now time.Time) string {
	if j.Hearth == nil || j.Hearth.Zone == "" || j.Schedule.Kind != protocol.CronAt && j.Schedule.Kind != protocol.CronExpr {
		return ""
	}
	zone, err := time.LoadLocation(j.Hearth.Zone)
	if err != nil {
		return ""
	}
	at := now
	if j.State.NextRunAtMs > 0 {
		at = time.UnixMilli(j.State.NextRunAtMs)
	}
	_, there := at.In(zone).Zone()
	if _, here := at.In(now.Location()).Zone(); here == there {
		return ""
	}
	return j.Hearth.Zone
}

// scheduleWords says when a job runs, by the gateway's words if it has some, and in which
// zone where that is not the one of now.
func scheduleWords(j *protocol.CronJob, now time.Time) string {
	if j.Hearth != nil && j.Hearth.Words != "" {
		words := text.Ellipsis(line(j.Hearth.Words), 60)
		if zone := otherZone(j, now); zone != "" && !strings.Contains(words, zone) {
			words += " (" + line(zone) + ")"
		}
		return words
	}
	s := &j.Schedule
	switch s.Kind {
	case protocol.CronAt:
		return "once"
	case protocol.CronEvery:
		return "every " + span(time.Duration(s.EveryMs)*time.Millisecond)
	case protocol.CronExpr:
		return strings.TrimSpace(s.Expr + " " + s.TZ)
	case protocol.CronOnExit, protocol.CronStream:
		var command any
		_ = json.Unmarshal(s.Command, &command)
		return map[string]string{protocol.CronOnExit: "when it ends: ", protocol.CronStream: "each line of: "}[s.Kind] + text.Ellipsis(
			line(fmt.Sprint(command)),
			40,
		)
	}
	return s.Kind
}

// resultWords says how the last run went, and whether its result arrived.
func resultWords(j *protocol.CronJob, now time.Time) string {
	s := &j.State
	switch {
	case s.RunningAtMs > 0 && s.LastRunAtMs == 0:
		return "runs since " + moment(s.RunningAtMs, now)
	case s.LastRunAtMs == 0:
		return "never ran"
	}
	words := map[string]string{protocol.CronOK: "done", protocol.CronError: "failed", protocol.CronSkipped: "left out"}[s.LastRunStatus]
	if words == "" {
		words = s.LastRunStatus
	}
	if s.LastDeliveryStatus == protocol.CronNotDelivered {
		words += ", not delivered"
	}
	return words + " " + moment(s.LastRunAtMs, now)
}

// orWords puts what may be said into words: "a, b or c".
func orWords(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// catchUpWords says what becomes of times that were missed.
func catchUpWords(c *protocol.CronCatchUp) string {
	words := map[string]string{
		"once": "made up for once", "skip": "left out", "all": "made up for, each of them",
	}[c.Mode]
	if words == "" {
		words = c.Mode
	}
	if c.Within != "" && c.Mode != "skip" {
		words += ", unless it is longer ago than " + c.Within
	}
	return words
}

// payloadWords says what a job does.
func payloadWords(j *protocol.CronJob) string {
	const most = 200
	p := &j.Payload
	if p.Kind == protocol.CronSystemEvent && j.Hearth != nil && j.Hearth.Reminder {
		words := "reminds you: "
		if j.Hearth.Important {
			words = "reminds you until you have seen it: "
		}
		return text.Ellipsis(words+p.Text, most)
	}
	switch p.Kind {
	case protocol.CronSystemEvent:
		return text.Ellipsis("tells the assistant: "+p.Text, most)
	case protocol.CronAgentTurn:
		words := "asks the assistant: " + p.Message
		if p.Model != "" {
			words = "asks " + p.Model + ": " + p.Message
		}
		return text.Ellipsis(words, most)
	case protocol.CronCommand:
		return text.Ellipsis("runs: "+strings.Join(p.Argv, " "), most)
	case protocol.CronScript:
		return "runs a script of " + size(int64(len(p.Script)))
	case protocol.CronHeartbeat:
		return "looks whether something needs attention"
	}
	return p.Kind
}

func deliveryWords(d *protocol.CronDelivery) string {
	if d == nil || d.Mode == protocol.CronDeliverNone || d.Mode == "" {
		return "nowhere else"
	}
	where := d.To
	if d.Mode == protocol.CronDeliverAnnounce {
		where = strings.TrimSpace(strings.Join([]string{d.Channel, d.AccountID, d.To}, " "))
		if where == "" || where == "last" {
			return "to where you wrote last"
		}
	}
	return "to " + where
}

// cost is what a run's model calls cost.
func runCost(r *protocol.CronRun) string {
	if r.Hearth == nil || r.Hearth.CostUSD == 0 {
		return "-"
	}
	return fmt.Sprintf("$%.4f", r.Hearth.CostUSD)
}
