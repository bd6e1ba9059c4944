package inbound

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
)

// DMPolicy says who may write direct messages.
type DMPolicy string

const (
	DMPairing   DMPolicy = "pairing"   // the allowlist, and whom the owner approved
	DMAllowlist DMPolicy = "allowlist" // only the allowlist
	DMOpen      DMPolicy = "open"      // everybody
	DMDisabled  DMPolicy = "disabled"  // nobody
)

// GroupPolicy says in which groups the assistant listens.
type GroupPolicy string

const (
	GroupAllowlist GroupPolicy = "allowlist" // the groups that are listed
	GroupOpen      GroupPolicy = "open"      // all
	GroupDisabled  GroupPolicy = "disabled"  // none
)

// Policy is what the owner set for one account of a channel. Its zero value
// asks the owner about every stranger and listens in no group. People are
// named by the ids that the network gives them, with or without the channel's
// name before it ("network:123"); an empty list is nobody, "*" is everybody.
type Policy struct {
	DM        DMPolicy // "" = DMPairing
	AllowFrom []string // may write; that makes nobody an owner
	Owners    []string // may use the owner's commands; "*" counts for nobody

	Group          GroupPolicy // "" = GroupAllowlist
	Groups         map[string]GroupRule
	GroupAllowFrom []string // nil: every member of a listed group

	AllowBots    bool
	HistoryLimit *int      // nil: as Settings say
	Reactions    Reactions // "" = ReactionsOwn
	ReactionFrom []string  // with ReactionsListed
	// CoalesceCommands keeps commands in direct chats within the debounce, for
	// networks that split what was sent at once.
	CoalesceCommands bool
}

// GroupRule is for one group; the one for "*" holds for groups without their
// own.
type GroupRule struct {
	RequireMention *bool    // nil: yes
	AllowFrom      []string // nil: as GroupAllowFrom
	Disabled       bool
	Topics         map[string]GroupRule // whole rules of their own, by number (channel.GeneralTopic)
}

// verdict is what the rules say of a message.
type verdict struct {
	rule   Rule
	detail string
	owner  bool
	shared bool // a guest to whom the owner's conversation was opened
}

// admit applies the rules. known is what the book of contacts says of the
// sender; it counts in direct chats only (A-PAIR-18).
func (p Policy) admit(in channel.Inbound, known *contact.Contact) verdict {
	if in.SenderIsBot && !p.AllowBots {
		return verdict{rule: RuleBot, detail: "the sender is a bot"}
	}
	if in.Behalf != "" {
		return admitBehalf(in)
	}
	owner := listed(p.Owners, in, false) || in.Chat == channel.Direct && known != nil && known.Owner
	if in.Chat == channel.Direct {
		return p.admitDirect(in, known, owner)
	}
	return p.admitGroup(in, owner)
}

func (p Policy) admitDirect(in channel.Inbound, known *contact.Contact, owner bool) verdict {
	pass := verdict{rule: RuleAccepted, owner: owner, shared: known != nil && known.Shared}
	switch p.DM {
	case DMOpen:
		return pass
	case DMAllowlist:
		if listed(p.AllowFrom, in, true) {
			return pass
		}
		return verdict{rule: RuleDMAllowlist, detail: "the sender is not in allowFrom"}
	case DMPairing, "":
		if listed(p.AllowFrom, in, true) || known != nil {
			return pass
		}
		return verdict{rule: RulePairing, detail: "the owner has not approved the sender"}
	}
	return verdict{rule: RuleDMDisabled, detail: "dmPolicy does not allow direct messages"}
}

// admitBehalf: whoever writes to a person who let us into that conversation is a guest in
// it, the owner too, and gets no code: the person let us in, and the channel handed on
// nothing before. What the person says there themselves is context.
func admitBehalf(in channel.Inbound) verdict {
	if !in.Mentioned {
		return verdict{rule: RuleMention, detail: "said by the person in whose name the assistant answers there"}
	}
	return verdict{rule: RuleAccepted}
}

func (p Policy) admitGroup(in channel.Inbound, owner bool) verdict {
	if p.Group != "" && p.Group != GroupAllowlist && p.Group != GroupOpen {
		return verdict{rule: RuleGroupDisabled, detail: "groupPolicy does not allow groups"}
	}
	rule, ok := channel.OfGroup(p.Groups, in.Conversation)
	if topic, has := rule.Topics[cmp.Or(in.Thread, channel.GeneralTopic)]; has {
		rule = topic
	}
	if !ok && p.Group != GroupOpen {
		return verdict{rule: RuleGroupAllowlist, detail: "the group is not listed under groups"}
	}
	if rule.Disabled {
		return verdict{rule: RuleGroupDisabled, detail: "the group is switched off"}
	}
	who := rule.AllowFrom
	if who == nil {
		who = p.GroupAllowFrom
	}
	if who != nil && !listed(who, in, true) {
		return verdict{rule: RuleGroupSender, detail: "the sender may not address the assistant in this group"}
	}
	if !in.Mentioned && (rule.RequireMention == nil || *rule.RequireMention) {
		return verdict{rule: RuleMention, detail: "the message does not mention the assistant"}
	}
	return verdict{rule: RuleAccepted, owner: owner}
}

// listed compares whole ids and nothing else.
func listed(list []string, in channel.Inbound, star bool) bool {
	if in.SenderID == "" {
		return false
	}
	return slices.ContainsFunc(list, func(id string) bool {
		if id == "*" {
			return star
		}
		if c, rest, ok := strings.Cut(id, ":"); ok && c == in.Channel && rest == in.SenderID {
			return true
		}
		return id == in.SenderID
	})
}
