package answers

import (
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/config"
)

// Configured is what the file says of answers on messaging networks, where an
// account does not say it.
type Configured struct {
	Silence              Silence
	Pace                 Pace
	BlockStreaming       string // on, off
	BlockStreamingBreak  string // text_end, message_end
	BlockStreamingChunk  hub.BlockChunk
	BlockStreamingMerged hub.BlockCoalesce
}

// Silence says where an answer may be silence: allow, disallow, or "" for nothing.
type Silence struct{ Group, Internal string }

// Pace is the pause between the blocks of an answer.
type Pace struct {
	Mode         string // off, natural, custom
	MinMs, MaxMs int
}

// Section are the settings of answers.
var Section = &config.Settings[Configured]{
	Path: "agents.defaults", Name: "answers",
	Default: Configured{
		Silence: Silence{Group: "allow", Internal: "allow"}, Pace: Pace{Mode: "off"}, BlockStreaming: "off", BlockStreamingBreak: "text_end",
	},
	Fields: func(c *Configured) []config.Field {
		return []config.Field{
			config.Object{Key: "silentReply", Fields: c.Silence.fields()},
			config.Object{
				Key: "humanDelay", Fields: c.Pace.fields(), Check: c.Pace.ordered(),
				Help: "a pause between the blocks of an answer: `mode` is `off`, `natural` (0.8 to 2.5 s) or `custom` with `minMs` and `maxMs`",
			},
			config.Choice{
				Key: "blockStreamingDefault", To: &c.BlockStreaming, Among: []string{"on", "off"},
				Hint: config.Hint{Pane: "chat", On: "on", Off: "off"}, Help: "`on` sends an answer in blocks while it is written",
			},
			config.Choice{
				Key: "blockStreamingBreak", To: &c.BlockStreamingBreak, Among: []string{"text_end", "message_end"},
				Help: "`message_end` waits for the end of the message",
			},
			c.BlockStreamingChunk.Field("blockStreamingChunk",
				"`minChars`, `maxChars`, `breakPreference` (`paragraph`, `newline`, `sentence`, `whitespace`)", config.Hint{}),
			c.BlockStreamingMerged.Field("blockStreamingCoalesce",
				"`minChars`, `maxChars`, `idleMs`: blocks that follow each other are sent as one", config.Hint{}),
		}
	},
}

// SurfacesSection says of single networks where an answer may be silence; what one
// does not say is as in Section.
var SurfacesSection = &config.Settings[map[string]Silence]{
	Name: "surfaces",
	Fields: func(all *map[string]Silence) []config.Field {
		return []config.Field{config.Map[Silence]{
			Key: "surfaces", To: all, Name: "<channel>", One: func(_ string, s *Silence) config.Field {
				return config.Object{Fields: []config.Field{config.Object{
					Key: "silentReply", Fields: s.fields(), Hint: config.Hint{Like: true},
					Help: "`group` and `internal`: the same for one channel",
				}}}
			},
		}}
	},
}

// PrefixSection is what stands before every answer that goes to a network.
var PrefixSection = &config.Settings[string]{
	Path: "messages", Name: "answers",
	Fields: func(prefix *string) []config.Field {
		return []config.Field{
			config.Text{
				Key: "responsePrefix", To: prefix, Max: 64, Empty: true, Hint: config.Hint{Pane: "channels", Default: "none"},
				Help: "text before every answer that goes to a channel",
			},
			config.Later("messagePrefix", "visibleReplies", "ackReaction", "ackReactionScope", "removeAckAfterReply", "suppressToolErrors",
				"statusReactions", "tts", "usageTemplate", "responseUsage"),
		}
	},
}

// AgentSection is the pace of one agent.
var AgentSection = &config.Entries[Pace]{
	Path: "agents.list[]", Name: "humanDelay",
	Fields: func(p *Pace) []config.Field {
		return []config.Field{config.Object{
			Key: "humanDelay", Fields: p.fields(), Check: p.ordered(), Hint: config.Hint{Default: "as the defaults"},
			Help: "the pause between the blocks of its answers",
		}}
	},
}

func (p *Pace) fields() []config.Field {
	return []config.Field{
		config.Choice{Key: "mode", To: &p.Mode, Among: []string{"off", "natural", "custom"}},
		config.Number{Key: "minMs", To: &p.MinMs, Max: 60_000},
		config.Number{Key: "maxMs", To: &p.MaxMs, Max: 60_000},
	}
}

func (p *Pace) ordered() func() error { return hub.Ordered("minMs", &p.MinMs, "maxMs", &p.MaxMs) }

// fields: direct conversations are never silent by rule.
func (s *Silence) fields() []config.Field {
	words := []string{"allow", "disallow"}
	return []config.Field{
		config.Choice{Key: "direct", Among: []string{"disallow"}, Help: "in direct chats an answer may never be silence"},
		config.Choice{Key: "group", To: &s.Group, Among: words, Help: "`disallow`: an answer may not be silence (`NO_REPLY`) in groups"},
		config.Choice{Key: "internal", To: &s.Internal, Among: words, Help: "the same for what Hearth asks itself"},
	}
}
