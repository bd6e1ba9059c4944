package dispatch

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
)

// renew begins a session anew when it has become old. Expiry is looked at only when a message arrives, and never
// under a running answer.
func (d *Dispatcher) renew(ctx context.Context, turn session.Turn) error {
	row, ok, err := d.sessions.Get(turn.SessionKey)
	if err != nil || !ok || row.HasActiveRun || row.QueuedRuns > 0 || row.MessageCount == 0 {
		return err
	}
	if _, known, err := d.sessions.Known(turn); known || err != nil {
		return err // the same message again
	}
	channelID := ""
	if turn.Origin != nil {
		channelID = turn.Origin.Provider
	}
	c := d.settings.Snapshot().Config
	rule, ok := policy.Section.Of(c).Resets.Holding(rules.Keys(c).Parse(turn.SessionKey), channelID, channel.Webchat)
	if !ok {
		return nil
	}
	now := d.now()
	if v := rule.Stale(method.Time(row.UpdatedAt), now, now.Location()); v.Stale {
		d.log.Info("a session has become old and begins anew", "session", turn.SessionKey, "rule", string(v.Rule))
		var now session.Row
		if now, err = d.sessions.Reset(ctx, turn.SessionKey); err == nil {
			d.renewed(row, now, v.Rule)
		}
	}
	return err
}
