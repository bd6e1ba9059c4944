package agents

import (
	"errors"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// BindingsSection says who answers what.
var BindingsSection = &config.Settings[[]Binding]{
	Name: "bindings",
	Fields: func(list *[]Binding) []config.Field {
		return []config.Field{config.List[Binding]{
			Key: "bindings", To: list, Take: wholeBinding,
			One: func(b *Binding) config.Field { return config.Object{Fields: b.fields()} },
		}}
	},
	// A binding to an agent that is not there is refused: its messages would be
	// answered by somebody else than was meant.
	Whole: func(list *[]Binding, all config.Config, wrong func(config.Path, string, ...any)) {
		known := Section.Of(all).List
		for i, b := range *list {
			if b.Agent != Main && !slices.ContainsFunc(known, func(e Entry) bool { return e.ID == b.Agent }) {
				wrong(config.Path{config.Key("bindings"), config.Index(i)}, "there is no agent %q in agents.list", b.Agent)
			}
		}
	},
}

func wholeBinding(b Binding) error {
	if b.Agent == "" || b.Channel == "" {
		return errors.New("a binding needs an agentId and match.channel, for example { agentId: \"work\", match: { channel: \"NETWORK\" } }")
	}
	return nil
}

func (b *Binding) fields() []config.Field {
	return []config.Field{
		config.Text{
			Key: "agentId", To: &b.Agent, Max: 64, Is: idOf,
			Help: "who answers what `match` says. The most specific binding wins: a chat before an account before a channel",
		},
		config.Object{Key: "match", Fields: []config.Field{
			config.Text{Key: "channel", To: &b.Channel, Max: 64, Is: smallLetters, Help: "the messaging network"},
			config.Text{
				Key: "accountId", To: &b.Account, Max: 256, Hint: config.Hint{Default: "the default account"},
				Help: "one account, or `\"*\"` for all",
			},
			config.Object{
				Key: "peer", Hint: config.Hint{Default: "every chat"},
				Help: "`{ kind, id }`, where `kind` is `direct`, `group` or `channel`",
				Fields: []config.Field{
					config.Choice{Key: "kind", To: &b.PeerKind, Among: []string{"direct", "group", "channel"}, Read: peerKind},
					config.Text{Key: "id", To: &b.PeerID, Max: 512},
				},
				Check: func() error {
					if b.PeerKind == "" || b.PeerID == "" {
						return errors.New("a peer needs kind (direct, group or channel) and id")
					}
					return nil
				},
			},
			// Without the part that we do not look at, it would match more than meant.
			refused("guildId"), refused("teamId"), refused("roles"),
		}},
		config.Later("comment", "type", "acp", "session"),
	}
}

func peerKind(v config.Value) string {
	if word, ok := v.Word(); ok && word == "dm" {
		return "direct" // the older name
	}
	return v.Choice("direct", "group", "channel")
}

func refused(key string) config.Field {
	return config.Alias(key, config.Any{Key: key, Read: func(v config.Value) {
		v.Wrong("this version cannot bind by %s; remove the binding or name a peer", key)
	}})
}

func smallLetters(s string) (string, error) { return strings.ToLower(s), nil }
