package rules

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/inbound/envelope"
)

// Inbound are the rules of messages that come in from networks; answerer says who
// answers one.
func Inbound(c config.Config, networks channel.Kinds, answerer func(channel.Inbound) string) inbound.Settings {
	line, clocks, in := EnvelopeSection.Of(c), clock.Section.Of(c), IncomingSection.Of(c)
	keys := Keys(c)
	keys.Threads = networks.Threads()
	s := inbound.Settings{
		Agent: answerer, Networks: networks, Keys: keys, HistoryLimit: in.HistoryLimit,
		Debounce:          time.Duration(in.DebounceMs) * time.Millisecond,
		DebounceByChannel: map[string]time.Duration{},
		Envelope: envelope.Settings{
			Timezone: line.Timezone, UserTimezone: clocks.UserTimezone, TimeFormat: clocks.TimeFormat,
			NoTimestamp: line.Timestamp == "off", NoElapsed: line.Elapsed == "off",
		},
	}
	for ch, ms := range in.DebounceMsByChannel {
		s.DebounceByChannel[ch] = time.Duration(ms) * time.Millisecond
	}
	return s
}
