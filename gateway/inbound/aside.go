package inbound

import (
	"context"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// What does not become a turn: messages of a group that were not meant for us,
// and changes to messages that still wait.

// overhear keeps a message of a group as context for the next one that is
// meant for us.
func (g *Gate) overhear(ctx context.Context, in channel.Inbound, pol Policy, v verdict) error {
	limit := g.Settings().HistoryLimit
	if pol.HistoryLimit != nil {
		limit = *pol.HistoryLimit
	}
	if limit <= 0 || in.Text == "" && len(in.Media) == 0 && in.Forwarded.Text == "" {
		g.decide(RuleMention, v.detail, in, "")
		return nil
	}
	in.Text, in.ReplyToText, in.Forwarded.Text = cut(in.Text, longestText/16), "", cut(in.Forwarded.Text, longestText/16)
	var seen repeat
	err := g.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) (err error) {
		if seen, err = g.t.remember(tx, in, g.Now()); err != nil || seen.drop {
			return err
		}
		return g.hear(tx, in, limit)
	}})
	if err != nil {
		return fmt.Errorf("keep a group's message: %w", err)
	}
	if seen.drop {
		g.decide(seen.rule, seen.detail, in, "")
		return nil
	}
	g.decide(RuleOverheard, v.detail, in, "")
	return nil
}

// withdrawn stands for a message that was deleted before it was read.
const withdrawn = "(a message that was deleted)"

// edit changes a message that waits for more text, or that is kept as context.
// What a session has taken is not changed.
func (g *Gate) edit(ctx context.Context, in channel.Inbound) error {
	id := messageKey(in)
	changed := false
	err := g.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		changed = false
		for row, err := range g.t.pending.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			if string(messageKey(row.Value.In)) == string(id) {
				changed = true
				row.Value.In.Text, row.Value.In.Command = in.Text, in.Command
				if in.Withdrawn { // its place in a turn stays
					row.Value.In.Text, row.Value.In.Media, row.Value.In.ReplyToText = withdrawn, nil, ""
					row.Value.In.Forwarded = channel.Forwarded{}
				}
				return g.t.pending.Put(tx, append([]byte(nil), row.Key...), row.Value)
			}
		}
		for row, err := range g.t.heard.Scan(tx, store.Range{Prefix: conversationKey(in)}) {
			if err != nil {
				return err
			}
			if string(messageKey(row.Value.In)) == string(id) {
				changed = true
				if in.Withdrawn {
					return g.t.heard.Delete(tx, append([]byte(nil), row.Key...))
				}
				row.Value.In.Text = cut(in.Text, longestText/16)
				return g.t.heard.Put(tx, append([]byte(nil), row.Key...), row.Value)
			}
		}
		return nil
	}})
	if err != nil {
		return fmt.Errorf("change a message: %w", err)
	}
	if changed {
		g.decide(RuleEdited, "the message was changed before it was handed on", in, "")
		return nil
	}
	g.decide(RuleEditedLate, "the message was changed after it had been handed on, or is not known", in, "")
	return nil
}
