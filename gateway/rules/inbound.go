package rules

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/inbound/envelope"
)

// Inbound are the rules of messages that come in from networks; answerer says who
// answers one.
func Inbound(c config.Config, networks channel.Kinds, answerer func(channel.Inbound) string) inbound.Settings {
	d := c.Agents.Defaults
	keys := Keys(c)
	keys.Threads = networks.Threads()
	s := inbound.Settings{
		Agent: answerer, Keys: keys, HistoryLimit: c.Messages.GroupChat.HistoryLimit,
		Debounce:          time.Duration(c.Messages.Inbound.DebounceMs) * time.Millisecond,
		DebounceByChannel: map[string]time.Duration{},
		Envelope: envelope.Settings{
			Timezone: d.EnvelopeTimezone, UserTimezone: d.UserTimezone, TimeFormat: d.TimeFormat,
			NoTimestamp: d.EnvelopeTimestamp == "off", NoElapsed: d.EnvelopeElapsed == "off",
		},
	}
	for ch, ms := range c.Messages.Inbound.ByChannel {
		s.DebounceByChannel[ch] = time.Duration(ms) * time.Millisecond
	}
	return s
}

// Approvals are the rules of what needs a yes.
func Approvals(c config.Config) approval.Settings {
	return approval.Settings{
		Security: approval.Security(c.Tools.Exec.Security), Ask: approval.Mode(c.Tools.Exec.Ask),
		Life: time.Duration(c.Approvals.ExpireSeconds) * time.Second,
	}
}
