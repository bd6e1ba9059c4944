package inbound

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/inbound/envelope"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
	"github.com/hearth-assistant/hearth/gateway/store"
)

func sortBatches(list []*batch) {
	slices.SortFunc(list, func(a, b *batch) int { return cmp.Compare(a.id, b.id) })
}

// seal writes down the turn that rows become, with what was said in the group
// before it, and removes the rows. From here on its words do not change.
func (g *Gate) seal(tx *store.Tx, id uint64, rows []pendingRow, set Settings) (*sealedRow, error) {
	// By the network's clock: what was sent first is read first.
	slices.SortStableFunc(rows, func(a, b pendingRow) int {
		if a.In.At.IsZero() || b.In.At.IsZero() {
			return cmp.Compare(a.Seq, b.Seq)
		}
		return a.In.At.Compare(b.In.At)
	})
	style := envelope.New(set.Envelope, g.Local)
	history, err := g.takeHeard(tx, rows, set, style)
	if err != nil {
		return nil, err
	}
	lane := conversationKey(rows[0].In)
	before, _, err := g.t.last.Get(tx, lane)
	if err != nil {
		return nil, err
	}
	a, err := g.accepted(rows, set, style, before)
	if err != nil {
		return nil, err
	}
	a.Prompt.History = history
	a.Text = a.Prompt.Render()
	if !a.At.IsZero() {
		if err := g.t.last.Put(tx, lane, max(before, a.At.UnixMilli())); err != nil {
			return nil, err
		}
	}
	first := rows[0].In
	first.Text, first.Command, first.ReplyToText, first.Media, first.Forwarded.Text = "", "", "", nil, ""
	row := &sealedRow{Accepted: a, First: first}
	for _, r := range rows {
		if err := g.t.pending.Delete(tx, store.Uint64Key(r.Seq)); err != nil {
			return nil, err
		}
	}
	return row, g.t.sealed.Put(tx, store.Uint64Key(id), *row)
}

// accepted makes one turn of the messages, the oldest first; the newest is the
// one that is replied to.
func (g *Gate) accepted(rows []pendingRow, set Settings, style envelope.Style, before int64) (Accepted, error) {
	last := rows[len(rows)-1].In
	key, err := keysFor(set.Keys, rows).Of(policy.Source{
		AgentID: set.agent(last), Channel: last.Channel, Account: last.Account, Chat: policy.Chat(last.Chat),
		Peer: last.SenderID, Group: last.Conversation, Thread: last.Thread,
	})
	if err != nil {
		return Accepted{}, fmt.Errorf("find the session of a message: %w", err)
	}
	a := Accepted{
		ID: "in-" + g.NewID(), SessionKey: key, ChatType: last.Chat, At: last.At,
		SenderID: last.SenderID, SenderName: last.SenderName, SenderIsOwner: true,
		Reply: channel.Target{Account: last.Account, Conversation: last.Conversation, Thread: last.Thread, ReplyTo: last.MessageID},
		Origin: Origin{
			Label: label(last), Provider: last.Channel, From: last.SenderID, To: last.Conversation,
			AccountID: last.Account, ThreadID: last.Thread,
		},
	}
	if last.Chat != channel.Direct {
		a.Origin.Room, a.Origin.Space = envelope.Label(last.Room), envelope.Label(last.Space)
	}
	var words, typed []string
	for _, r := range rows {
		if r.In.Text != "" {
			typed = append(typed, r.In.Typed())
			words = append(words, envelope.Clean(r.In.Text, r.In.Channel))
		}
		if r.In.MessageID != "" {
			a.MessageIDs = append(a.MessageIDs, r.In.MessageID)
		}
		if r.In.ReplyToText != "" {
			a.Prompt.Quoted = envelope.Clean(r.In.ReplyToText, r.In.Channel)
			a.QuoteSelected = r.In.QuoteSelected
		}
		if f := r.In.Forwarded; f.From != "" {
			a.Prompt.Forwarded = append(a.Prompt.Forwarded, envelope.Forward(f.From, envelope.Clean(f.Text, r.In.Channel)))
		}
		for _, m := range r.In.Media {
			a.Media = append(a.Media, m)
			a.Prompt.Attached = append(a.Prompt.Attached, envelope.Attached(m.MIME, m.Name, m.Size))
		}
		a.SenderIsOwner = a.SenderIsOwner && r.Owner
		a.Mentioned = a.Mentioned || r.In.Mentioned
		a.PossibleRepeat = a.PossibleRepeat || r.PossibleRepeat
	}
	a.CommandBody = strings.Join(typed, "\n")
	a.Prompt.Body = strings.Join(words, "\n")
	if last.Chat != channel.Direct {
		a.Prompt.Sender = envelope.Sender(last.SenderName, last.SenderHandle, last.SenderID)
	}
	a.Prompt.Head = head(set, style, last, before)
	return a, nil
}

// keysFor are the rules about keys for the sender of rows, who is one. Guests
// have a conversation of their own in direct chats, also where the owner's
// messages all share one, unless the owner opened that one to them: what the
// owner says at home is not to come up in an answer to somebody else.
func keysFor(k policy.Keys, rows []pendingRow) policy.Keys {
	owner, shared := true, true
	for _, r := range rows {
		owner, shared = owner && r.Owner, shared && r.Shared
	}
	switch {
	case owner:
	case shared:
		k.DMScope = policy.ScopeMain
	case k.DMScope == policy.ScopeMain || k.DMScope == "":
		k.DMScope = policy.ScopeChannelPeer
	}
	return k
}

// head is the envelope of a message.
func head(set Settings, style envelope.Style, in channel.Inbound, before int64) string {
	h := envelope.Head{Channel: set.Networks.Label(in.Channel), From: label(in), At: in.At}
	if before != 0 {
		h.Previous = time.UnixMilli(before)
	}
	return style.Wrap(h, "")
}

// label names a conversation for people and for the model.
func label(in channel.Inbound) string {
	if in.Chat == channel.Direct {
		return envelope.Sender(in.SenderName, in.SenderHandle, in.SenderID)
	}
	if l := envelope.Label(in.Label); l != "" {
		return l
	}
	return envelope.Label(in.Conversation)
}

// takeHeard returns what a group said since our last answer and which emoji were put
// on messages, rendered, and empties the buffer.
func (g *Gate) takeHeard(tx *store.Tx, rows []pendingRow, set Settings, style envelope.Style) (out []string, err error) {
	in, reactions := rows[0].In, 0
	prefix := conversationKey(in)
	for row, err := range g.t.heard.Scan(tx, store.Range{Prefix: prefix}) {
		if err != nil {
			return nil, err
		}
		h := row.Value.In
		if h.Reaction.Reacted() {
			reactions++
		}
		who := envelope.Sender(h.SenderName, h.SenderHandle, h.SenderID)
		body := envelope.Clean(h.Text, h.Channel)
		if f := h.Forwarded; f.From != "" {
			body = envelope.Forward(f.From, envelope.Clean(f.Text, h.Channel))
		}
		if h.Reaction.Reacted() {
			body = reactionOf(h)
		}
		if h.Chat == channel.Direct {
			who = "" // it stands in front
		}
		for _, m := range h.Media {
			body = strings.TrimSpace(body + " " + envelope.Attached(m.MIME, m.Name, m.Size))
		}
		out = append(out, head(set, style, h, 0)+envelope.Say(who, body))
	}
	if limit := g.historyLimit(in, set); in.Chat != channel.Direct && len(out) > max(limit, reactions) {
		limit = max(limit, reactions)
		out = out[len(out)-limit:]
	}
	_, err = g.t.heard.DeleteRange(tx, store.Range{Prefix: prefix}, -1)
	return out, err
}

func (g *Gate) historyLimit(in channel.Inbound, set Settings) int {
	if l := g.Policy(in.Channel, in.Account).HistoryLimit; l != nil {
		return max(*l, 0)
	}
	return max(set.HistoryLimit, 0)
}
