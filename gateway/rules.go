package gateway

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/inbound/envelope"
	"github.com/hearth-assistant/hearth/gateway/rules"
)

func (g *Gateway) inboundSettings(c config.Config) inbound.Settings {
	d := c.Agents.Defaults
	keys := rules.Keys(c)
	keys.Threads = Networks().Threads()
	s := inbound.Settings{
		Agent: g.agents.Answerer, Keys: keys, HistoryLimit: c.Messages.GroupChat.HistoryLimit,
		Debounce: time.Duration(c.Messages.Inbound.DebounceMs) * time.Millisecond, DebounceByChannel: map[string]time.Duration{},
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
