package policy

import (
	"errors"
	"maps"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Configured is what the file says of sessions: which messages share one, when it
// ends, and which may send.
type Configured struct {
	Keys     Keys
	Resets   Resets
	Triggers []string // words that begin a session anew, beside /new and /reset
	Sending  SendPolicy
}

const maxMinutes = 525_600 // a year

// Section are the settings of sessions.
var Section = &config.Settings[Configured]{
	Path:    "session",
	Default: Configured{Keys: Keys{MainKey: defaultMain, DMScope: ScopeMain}, Sending: SendPolicy{Default: Allow}},
	Fields: func(c *Configured) []config.Field {
		return append(append(c.Keys.fields(), c.Resets.fields()...),
			config.Texts{
				Key: "resetTriggers", To: &c.Triggers, Max: 64, Unset: true, Hint: config.Hint{Default: "`[\"/new\", \"/reset\"]`"},
				Help: "words that start a conversation anew. These two always work",
			},
			config.Number{
				Key: "idleMinutes", To: &c.Resets.IdleMinutes, Min: 1, Max: maxMinutes, Hint: config.Hint{Default: "none"},
				Help: "the old name; alone it means `idle`",
			},
			c.Sending.field(),
			config.Later("store", "agentToAgent", "maintenance", "typingMode", "typingIntervalSeconds", "threadBindings", "parentForkMaxTokens"),
		)
	},
	Check: func(c *Configured) error { // who has no ids is linked to nobody
		maps.DeleteFunc(c.Keys.IdentityLinks, func(_ string, ids []string) bool { return len(ids) == 0 })
		return nil
	},
	Renames: oldIdle,
}

func (k *Keys) fields() []config.Field {
	return []config.Field{
		config.Text{
			Key: "mainKey", To: &k.MainKey, Max: 64, Is: mainName, Help: "the name of the main conversation", Hint: config.Hint{Restart: true},
		},
		config.Choice{
			Key: "scope", Among: []string{perSender}, Read: scope,
			Help: "groups always have conversations of their own: this is the only way",
		},
		config.Choice{
			Key: "dmScope", To: (*string)(&k.DMScope), Hint: config.Hint{Pane: "people"},
			Among: []string{string(ScopeMain), string(ScopePeer), string(ScopeChannelPeer), string(ScopeAccountChannelPeer)},
			Help: "direct messages: `main` (all in one conversation), `per-peer` (one a sender), `per-channel-peer`, `per-account-channel-peer`. " +
				"This is about your own messages: whoever else may write has a conversation of their own under `main` too, as with " +
				"`per-channel-peer`, unless you open yours to them (`hearth contacts conversation ID shared`)",
		},
		links(&k.IdentityLinks),
	}
}

func mainName(s string) (string, error) {
	if strings.ContainsAny(s, ": \t") {
		return "", errors.New("the main conversation's name may not hold spaces or colons")
	}
	return s, nil
}

const perSender = "per-sender"

// scope: "global" is known and not had.
func scope(v config.Value) string {
	if word, _ := v.Word(); word == "global" {
		v.Warn("\"global\" is not used: groups always have conversations of their own, as with \"per-sender\"")
		return ""
	}
	return v.Choice(perSender)
}

// links reads { alice: ["NETWORK:123", "OTHER:456"] }.
func links(to *map[string][]string) config.Field {
	owner := map[string]string{} // by id
	return config.Map[[]string]{
		Key: "identityLinks", To: to, Name: "<name>", Hint: config.Hint{Default: "none"},
		Help: "one person on several channels: `{ alice: [\"NETWORK:123\", \"OTHER:456\"] }`. Linked ids share a conversation in every scope",
		Is: func(name string) error {
			if strings.TrimSpace(name) == "" {
				return errors.New("a person needs a name")
			}
			return nil
		},
		One: func(name string, ids *[]string) config.Field {
			return config.Texts{To: ids, Unset: true, Read: func(v config.Value) (string, bool) {
				id := strings.TrimSpace(v.Text(256))
				network, peer, ok := strings.Cut(id, ":")
				switch {
				case id == "":
				case !ok || network == "" || peer == "":
					v.Wrong("write the channel and the sender's id, for example \"NETWORK:123456789\"")
				case owner[id] != "" && owner[id] != name:
					v.Wrong("this id already belongs to another person of this list")
				default:
					owner[id] = name
					return id, true
				}
				return "", false
			}}
		},
	}
}

func (r *Resets) fields() []config.Field {
	ofType := func(key string, t Type) config.Field {
		return aReset(config.Any{Key: key}, "", func() (Reset, bool) {
			own, ok := r.ByType[t]
			return own, ok
		}, func(own Reset) {
			if r.ByType == nil {
				r.ByType = map[Type]Reset{}
			}
			r.ByType[t] = own
		})
	}
	return []config.Field{
		aReset(config.Any{
			Key: "reset", Hint: config.Hint{Default: "networks: `{ mode: \"daily\", atHour: 4 }`; your own chats: none"},
			Help: "when a conversation starts anew: `daily` at `atHour` (this machine's time), `idle` after `idleMinutes` (60), or daily with " +
				"`idleMinutes`: whichever is first. Chats of messaging networks follow it, also by default. The home chat follows it once " +
				"you have set it. A chat that you made (in the page, on the phone, in a terminal) never starts anew by itself. Nothing is lost: " +
				"what stood there before can be opened, searched and continued",
		}, "chat", func() (Reset, bool) {
			if r.Base == nil {
				return Reset{}, false
			}
			return *r.Base, true
		}, func(base Reset) { r.Base = &base }),
		config.Object{
			Key: "resetByType", Help: "other rules for `dm`, `group`, `thread`", Hint: config.Hint{Default: "none"},
			Fields: []config.Field{
				ofType("dm", TypeDM), config.Alias("direct", ofType("dm", TypeDM)), ofType("group", TypeGroup), ofType("thread", TypeThread),
			},
		},
		config.Map[Reset]{
			Key: "resetByChannel", To: &r.ByChannel, Name: "<channel>", Hint: config.Hint{Default: "none"},
			Help: "other rules for a channel; they go before all others",
			One:  func(_ string, own *Reset) config.Field { return config.Object{Fields: own.fields("")} },
		},
	}
}

// aReset is a rule that may be absent. The pane of the page's settings shows it.
func aReset(f config.Any, pane string, get func() (Reset, bool), set func(Reset)) config.Field {
	f.Like = config.Object{Fields: new(Reset).fields(pane)}
	f.Read = func(v config.Value) {
		own := Reset{}
		v.Object(own.fields("")...)
		set(own)
	}
	f.Show = func() (any, bool) {
		own, ok := get()
		return own, ok
	}
	return f
}

func (r *Reset) fields(pane string) []config.Field {
	return []config.Field{
		config.Choice{
			Key: "mode", To: (*string)(&r.Mode), Among: []string{string(ModeDaily), string(ModeIdle)},
			Hint: config.Hint{Pane: pane, Whole: "session.reset", Default: "`daily`"},
		},
		config.MaybeNumber{Key: "atHour", To: &r.AtHour, Min: 0, Max: 23, Hint: config.Hint{Pane: pane, Default: "`4`"}},
		config.Number{Key: "idleMinutes", To: &r.IdleMinutes, Min: 1, Max: maxMinutes, Hint: config.Hint{Pane: pane}},
	}
}

func (p *SendPolicy) field() config.Field {
	words := []string{string(Allow), string(Deny)}
	return config.Object{Key: "sendPolicy", Fields: []config.Field{
		config.List[SendRule]{
			Key: "rules", To: &p.Rules, Hint: config.Hint{Default: "none"},
			Help: "`{ action: \"deny\" or \"allow\", match: { channel, chatType, keyPrefix } }`: answers that may not leave. One matching `deny` " +
				"is enough",
			One: func(r *SendRule) config.Field {
				return config.Object{
					Fields: []config.Field{
						config.Choice{Key: "action", To: (*string)(&r.Action), Among: words},
						config.Object{Key: "match", Fields: r.Match.fields()},
					},
					Check: func() error {
						if r.Action == "" {
							return errors.New("a rule needs an action: allow or deny")
						}
						return nil
					},
				}
			},
		},
		config.Choice{Key: "default", To: (*string)(&p.Default), Among: words, Help: "what holds when no rule matches"},
	}}
}

func (m *Match) fields() []config.Field {
	return []config.Field{
		config.Text{Key: "channel", To: &m.Channel, Max: 64},
		config.Choice{
			Key: "chatType", To: (*string)(&m.ChatType), Among: []string{string(ChatDirect), string(ChatGroup), string(ChatRoom)},
		},
		config.Text{Key: "keyPrefix", To: &m.KeyPrefix, Max: 512},
	}
}

// oldIdle: session.idleMinutes alone is a session.reset by idling.
func oldIdle(in config.Places) []config.Rename {
	old, reset := config.At("session", "idleMinutes"), config.At("session", "reset")
	v, ok := in.Value(old)
	if !ok || in.Has(reset) {
		return nil
	}
	minutes, ok := v.Digits()
	if !ok {
		return nil
	}
	return []config.Rename{{
		Says: "session.idleMinutes is session.reset", Old: old, New: reset, Value: `{ mode: "idle", idleMinutes: ` + minutes + ` }`,
	}}
}
