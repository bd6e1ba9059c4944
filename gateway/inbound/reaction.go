package inbound

import (
	"context"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/inbound/envelope"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Reactions says of which emoji that people put on messages the assistant is told.
type Reactions string

// The values of reactionNotifications.
const (
	ReactionsOff    Reactions = "off"
	ReactionsOwn    Reactions = "own" // on its own messages: the default
	ReactionsAll    Reactions = "all"
	ReactionsListed Reactions = "allowlist" // of the people in ReactionFrom
)

const (
	// mostReactions is how many of them wait for the next turn of a conversation.
	mostReactions = 20
	aboutLength   = 120 // of the message that is reacted to
)

// reacted keeps an emoji as context for the next turn. It begins none: whoever puts a
// thumb on a message has not said anything.
func (g *Gate) reacted(ctx context.Context, in channel.Inbound, pol Policy, known *contact.Contact) error {
	in.Mentioned, in.Text, in.Command, in.Media, in.Edited = true, "", "", nil, false
	in.Reaction.Emoji = cut(in.Reaction.Emoji, aboutLength)
	v := pol.admit(in, known)
	if v.rule != RuleAccepted {
		if v.rule == RulePairing { // who only puts an emoji somewhere does not ask to be let in
			v.rule, v.detail = RuleReaction, "nobody approved who reacted"
		}
		g.decide(v.rule, v.detail, in, "")
		return nil
	}
	var thread, about string
	ours := in.Reaction.Ours
	if g.Sent != nil {
		at := channel.Target{Account: in.Account, Conversation: in.Conversation}
		var ok bool
		thread, about, ok = g.Sent.SentAs(in.Channel, at, in.Reaction.MessageID)
		ours = ours || ok
	}
	if why := pol.deaf(in, ours); why != "" {
		g.decide(RuleReaction, why, in, "")
		return nil
	}
	if in.Thread == "" {
		in.Thread = thread
	}
	in.ReplyToText = text.Ellipsis(text.Line(about), aboutLength)
	in.Reaction.Ours = ours
	return g.keepReaction(ctx, in)
}

// deaf says why a reaction is not told, "" when it is.
func (p Policy) deaf(in channel.Inbound, ours bool) string {
	switch p.Reactions {
	case ReactionsOff:
		return "reactionNotifications is off"
	case ReactionsAll:
		return ""
	case ReactionsListed:
		if !listed(p.ReactionFrom, in, true) {
			return "who reacted is not in reactionAllowlist"
		}
		return ""
	}
	if !ours {
		return "it is not on a message of the assistant"
	}
	return ""
}

func (g *Gate) keepReaction(ctx context.Context, in channel.Inbound) error {
	var seen repeat
	err := g.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) (err error) {
		if seen, err = g.t.remember(tx, in, g.Now()); err != nil || seen.drop {
			return err
		}
		return g.hear(tx, in, max(g.historyLimit(in, g.Settings()), mostReactions))
	}})
	if err != nil {
		return fmt.Errorf("keep a reaction: %w", err)
	}
	if seen.drop {
		g.decide(seen.rule, seen.detail, in, "")
		return nil
	}
	g.decide(RuleReaction, "kept as context for the next turn", in, "")
	return nil
}

// hear keeps what the next turn of a conversation is told of, at most limit of it; the
// oldest goes first.
func (g *Gate) hear(tx *store.Tx, in channel.Inbound, limit int) error {
	seq, err := g.t.heard.NextSeq(tx)
	if err != nil {
		return err
	}
	prefix := conversationKey(in)
	if err := g.t.heard.Put(tx, append(prefix[:len(prefix):len(prefix)], store.Uint64Key(seq)...), heard{In: in}); err != nil {
		return err
	}
	n := 0
	for range g.t.heard.ScanRaw(tx, store.Range{Prefix: prefix}) {
		n++
	}
	if n > limit {
		_, err = g.t.heard.DeleteRange(tx, store.Range{Prefix: prefix}, n-limit)
	}
	return err
}

// reactionOf is a reaction in words.
func reactionOf(in channel.Inbound) string {
	return envelope.Reacted(in.Reaction.Emoji, in.Reaction.Removed, in.Reaction.Ours, envelope.Clean(in.ReplyToText, in.Channel))
}
