package push

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Levels of detail: what leaves the machine.
const (
	private    = "private"    // that there is news
	identified = "identified" // of what kind, and the name of the chat
	detailed   = "detailed"   // the words
)

// Limits of what a person can choose.
const (
	maxLabel  = 80
	maxAgents = 128
	dayOver   = 24 * 60
)

// standard is what holds where nobody chose: everything that waits for a person, and
// nothing of what it says.
func standard() protocol.PushPreferences {
	return protocol.PushPreferences{
		Categories: protocol.PushCategories{
			ApprovalRequested: true, AgentFinished: true, AgentQuestion: true, ScheduledTaskFailed: true, BackgroundTaskFailed: true,
			Reminder: true,
		},
		DetailLevel: private,
		QuietHours:  protocol.PushQuietHours{StartMinute: 22 * 60, EndMinute: 7 * 60, TimeZone: "UTC"},
		AgentIDs:    []string{},
	}
}

// effective is what holds for a device.
func effective(d protocol.PushDevicePreferences) protocol.PushEffective {
	e := protocol.PushEffective{PushPreferences: standard(), Enabled: d.Enabled, Label: d.Label}
	if c := d.Categories; c != nil {
		for chosen, to := range map[*bool]*bool{
			c.ApprovalRequested: &e.Categories.ApprovalRequested, c.AgentFinished: &e.Categories.AgentFinished,
			c.AgentQuestion: &e.Categories.AgentQuestion, c.HumanMentioned: &e.Categories.HumanMentioned,
			c.ScheduledTaskFailed: &e.Categories.ScheduledTaskFailed, c.BackgroundTaskFailed: &e.Categories.BackgroundTaskFailed,
			c.Reminder: &e.Categories.Reminder,
		} {
			if chosen != nil {
				*to = *chosen
			}
		}
	}
	if d.DetailLevel != "" {
		e.DetailLevel = d.DetailLevel
	}
	if d.QuietHours != nil {
		e.QuietHours = *d.QuietHours
	}
	if len(d.AgentIDs) > 0 {
		e.AgentIDs = d.AgentIDs
	}
	return e
}

// checkPreferences says what of a choice cannot be kept.
func checkPreferences(d protocol.PushDevicePreferences) error {
	if utf8.RuneCountInString(d.Label) > maxLabel {
		return fmt.Errorf("the label has more than %d characters", maxLabel)
	}
	if d.DetailLevel != "" && !slices.Contains([]string{private, identified, detailed}, d.DetailLevel) {
		return fmt.Errorf("detailLevel is private, identified or detailed")
	}
	if len(d.AgentIDs) > maxAgents || slices.ContainsFunc(d.AgentIDs, func(id string) bool { return id == "" || len(id) > 128 }) {
		return fmt.Errorf("agentIds are at most %d names of 1 to 128 bytes", maxAgents)
	}
	q := d.QuietHours
	if q == nil {
		return nil
	}
	if q.StartMinute < 0 || q.StartMinute >= dayOver || q.EndMinute < 0 || q.EndMinute >= dayOver {
		return fmt.Errorf("the quiet hours begin and end at a minute from 0 to %d", dayOver-1)
	}
	if _, err := time.LoadLocation(q.TimeZone); err != nil || q.TimeZone == "" || len(q.TimeZone) > 128 {
		return fmt.Errorf("the quiet hours need a time zone such as Europe/Berlin")
	}
	return nil
}

// quiet reports whether a device is to be left alone now.
func quiet(q protocol.PushQuietHours, now time.Time) bool {
	if !q.Enabled || q.StartMinute == q.EndMinute {
		return false
	}
	zone, err := time.LoadLocation(q.TimeZone)
	if err != nil {
		return false
	}
	there := now.In(zone)
	minute := there.Hour()*60 + there.Minute()
	if q.StartMinute < q.EndMinute {
		return minute >= q.StartMinute && minute < q.EndMinute
	}
	return minute >= q.StartMinute || minute < q.EndMinute
}

// wants reports whether a device is to be told of something now.
func wants(e protocol.PushEffective, n notice, now time.Time) bool {
	if !e.Enabled || len(e.AgentIDs) > 0 && n.agent != "" && !slices.Contains(e.AgentIDs, n.agent) {
		return false
	}
	if quiet(e.QuietHours, now) && !n.important && n.kind != kindTest {
		return false
	}
	switch n.kind {
	case kindApproval:
		return e.Categories.ApprovalRequested
	case kindAnswer:
		return e.Categories.AgentFinished
	case kindReminder:
		return e.Categories.Reminder
	case kindFailure:
		return e.Categories.ScheduledTaskFailed
	}
	return true
}
