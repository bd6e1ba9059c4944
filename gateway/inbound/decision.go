package inbound

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Rule names what decided over a message.
type Rule string

const (
	RuleAccepted  Rule = "accepted"
	RuleOverheard Rule = "overheard" // not meant for us; kept as context of a group
	RulePairing   Rule = "pairing"   // a stranger; the owner is asked

	RuleMalformed      Rule = "malformed"
	RuleBot            Rule = "bot"
	RuleEmpty          Rule = "empty"
	RuleDMDisabled     Rule = "dm-disabled"
	RuleDMAllowlist    Rule = "dm-allowlist"
	RulePairingFull    Rule = "pairing-full"
	RuleGroupDisabled  Rule = "group-disabled"
	RuleGroupAllowlist Rule = "group-allowlist"
	RuleGroupSender    Rule = "group-sender"
	RuleMention        Rule = "mention"
	RuleDuplicate      Rule = "duplicate"
	RulePossibleRepeat Rule = "possible-repeat"
	RuleEdited         Rule = "edited"      // a waiting message was changed
	RuleEditedLate     Rule = "edited-late" // the message had been handed on
	RuleRefused        Rule = "refused"     // the session did not want it
	RuleQuarantined    Rule = "quarantined" // handling it failed again and again
	RuleTooOld         Rule = "too-old"     // it waited for Hearth to come back, for too long
	RuleTooMany        Rule = "too-many"    // more waited than is read
	RuleReaction       Rule = "reaction"    // an emoji: kept as context, or left out
	RulePress          Rule = "press"       // of a button that does nothing (any more)

)

// Decision is what became of a message and why.
type Decision struct {
	Rule   Rule
	Detail string // for people
	At     time.Time

	Channel, Account, Conversation, SenderID string
	MessageIDs                               []string
	RunID                                    string // of the turn it became
}

func (g *Gate) decide(rule Rule, detail string, in channel.Inbound, runID string, ids ...string) {
	if len(ids) == 0 && in.MessageID != "" {
		ids = []string{in.MessageID}
	}
	d := Decision{
		Rule: rule, Detail: detail, At: g.Now(), Channel: in.Channel, Account: in.Account,
		Conversation: in.Conversation, SenderID: in.SenderID, MessageIDs: ids, RunID: runID,
	}
	if g.OnDecision != nil {
		g.OnDecision(d)
	}
	g.Logger.Info("message from a channel", "rule", string(rule), "detail", detail, "channel", in.Channel, "account", in.Account,
		"conversation", in.Conversation, "run", runID)
}
