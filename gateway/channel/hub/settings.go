package hub

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
)

// Network is what the file says of one network. The keys of channels.<id> are the
// account "default", and what every other account begins with.
type Network struct {
	Base  Configured
	Named map[string]Configured // the accounts below channels.<id>.accounts
	kind  channel.Kind
}

// Accounts are all of them by name. One "default" that stands by its name goes
// before the keys of the network.
func (n Network) Accounts() map[string]Configured {
	out := maps.Clone(n.Named)
	if _, named := out["default"]; !named && n.Base.connects(n.kind) {
		if out == nil {
			out = map[string]Configured{}
		}
		out["default"] = n.Base
	}
	return out
}

// InUse are the accounts that are switched on.
func (n Network) InUse() map[string]Configured {
	out := n.Accounts()
	maps.DeleteFunc(out, func(_ string, a Configured) bool { return !n.Base.Enabled || !a.Enabled })
	return out
}

// Others reports whether there are accounts beside one.
func (n Network) Others(account string) bool {
	for id := range n.Accounts() {
		if id != account {
			return true
		}
	}
	return false
}

// Configured is one account as the file says it. Empty lists and nil mean "not
// said".
type Configured struct {
	Enabled bool
	own     // the keys that only this network has

	DMPolicy       string // pairing, allowlist, open, disabled
	AllowFrom      []string
	GroupPolicy    string // allowlist, open, disabled
	GroupAllowFrom []string
	Groups         map[string]GroupRules // "*": all others
	HistoryLimit   *int
	Reactions      string // off, own, all, allowlist
	ReactionFrom   []string
	Menu           MenuRules
	Added          []AddedCommand // to its menu

	Streaming      Streaming
	TextChunkLimit int        // 0: the network's
	ChunkMode      string     // length, newline
	DraftChunk     BlockChunk // of previews in steps
	BlockStreaming *bool
	Merged         BlockCoalesce
	ReplyToMode    string // off, first, all
	ResponsePrefix *string
	MediaMaxMB     int
}

// connects reports whether there is what an account needs.
func (a Configured) connects(k channel.Kind) bool {
	return !a.Secret(k.Connects).IsZero() || a.Text(k.Connects) != ""
}

// GroupRules are those of one group.
type GroupRules struct {
	Enabled        bool
	RequireMention *bool
	AllowFrom      []string
	SystemPrompt   string                // "": nothing
	Skills         []string              // nil: all
	Tools          policy.Layer          // of those that groups may have at most
	Topics         map[string]GroupRules // by their numbers; without Tools and Topics
}

// Streaming says what is seen of an answer while it is written.
type Streaming struct {
	Mode              string // off, partial, block, progress
	Preview, Progress ProgressLines
}

// ProgressLines say what is shown of tools at work.
type ProgressLines struct {
	ToolProgress bool
	CommandText  string // raw, status
}

// newAccount is an account of which nothing was said.
func newAccount(k channel.Kind) Configured {
	lines := ProgressLines{ToolProgress: true, CommandText: "raw"}
	a := Configured{
		Enabled: true, DMPolicy: "pairing", GroupPolicy: "allowlist",
		Streaming: Streaming{Mode: cmp.Or(k.Streaming, "partial"), Preview: lines, Progress: lines},
		ChunkMode: "length", ReplyToMode: "first", MediaMaxMB: k.MaxFile, own: newOwn(),
	}
	for _, s := range k.Settings {
		a.own.set(s, own{})
	}
	return a
}

// below is what an account of a name begins with: secrets and addresses of one are
// nobody else's.
func (a Configured) below(k channel.Kind, name string) Configured {
	out := a
	out.own = newOwn()
	for _, s := range k.Settings {
		from := own{}
		if s.Shared || name == "default" {
			from = a.own
		}
		out.own.set(s, from)
	}
	if name != "default" {
		out.Enabled = true
	}
	out.Added = slices.Clone(a.Added)
	out.AllowFrom, out.GroupAllowFrom, out.Groups = slices.Clone(a.AllowFrom), slices.Clone(a.GroupAllowFrom), maps.Clone(a.Groups)
	return out
}

// Sections are those of all networks, and what holds for them together.
func Sections(kinds channel.Kinds) (out config.Sections) {
	for _, k := range kinds {
		out = append(out, Section(k))
	}
	return append(out, &config.Settings[struct{}]{
		Path: "channels",
		Fields: func(*struct{}) []config.Field { // networks that other gateways know
			later := []string{"defaults", "whatsapp", "discord", "slack", "signal", "imessage", "mattermost", "msteams",
				"googlechat", "line", "feishu", "nostr", "twitch", "zalo", "webchat"}
			return []config.Field{config.Later(slices.DeleteFunc(later, func(id string) bool { _, here := kinds.Get(id); return here })...)}
		},
		Whole: func(_ *struct{}, all config.Config, wrong func(config.Path, string, ...any)) {
			apart(kinds, all, wrong)
		},
	})
}

// Section are the settings of one network.
func Section(k channel.Kind) *config.Settings[Network] {
	return &config.Settings[Network]{
		Path:    "channels." + k.ID,
		Default: Network{Base: newAccount(k), kind: k},
		Fields: func(n *Network) []config.Field {
			n.Base = newAccount(k) // its own, not the default's
			return append(n.Base.fields(k), config.Later(k.Later...), config.Map[Configured]{
				Key: "accounts", To: &n.Named, Is: AccountName, Last: true, Hint: config.Hint{Like: true},
				Help: "more accounts: all keys above, beginning with the values above. Credentials, addresses where the network calls and " +
					"`enabled` are each account's own",
				New: func(name string) Configured { return n.Base.below(k, name) },
				One: func(_ string, a *Configured) config.Field {
					return config.Object{Fields: append(a.fields(k), config.Later(k.LaterAccount...))}
				},
			})
		},
		Renames: func(in config.Places) []config.Rename { return renames(in, config.At("channels", k.ID)) },
	}
}

// AccountName judges the name of an account, which is part of session keys.
func AccountName(s string) error {
	if s == "" || len(s) > 64 || strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}) {
		return errors.New("an account's name has 1 to 64 small letters, digits, - and _")
	}
	return nil
}

// sender reads an id, which people also write as a number.
func sender(v config.Value) (string, bool) {
	if n, ok := v.Digits(); ok {
		if _, err := strconv.ParseInt(n, 10, 64); err != nil {
			v.Wrong("an id is a whole number")
			return "", false
		}
		return n, true
	}
	s := strings.TrimSpace(v.Text(256))
	return s, s != ""
}
