package session

import (
	"cmp"
	"context"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Place is a direct chat on a messaging network that the owner wrote from.
type Place struct {
	Route  string `json:"route"`
	Origin Origin `json:"origin"`
}

// mostPlaces bounds those of one conversation.
const mostPlaces = 8

// Towards is where the answer of a run goes, and the message there that it answers;
// route is "" for the gateway's own clients.
func (r Run) Towards() (route, replyTo string) {
	if r.Deliver != "" && r.Deliver != r.Route {
		return r.Deliver, ""
	}
	return r.Route, r.ReplyTo
}

// visited notes where a turn came from.
func (r *Row) visited(turn Turn) {
	if turn.Origin == nil || turn.Passing {
		return
	}
	r.Origin = turn.Origin
	if !turn.Owner || turn.Origin.ChatType != "direct" || turn.Route == "" {
		return
	}
	r.Places = slices.DeleteFunc(slices.Clone(r.Places), func(p Place) bool { return p.Route == turn.Route })
	r.Places = append(r.Places, Place{turn.Route, *turn.Origin})
	r.Places = r.Places[max(0, len(r.Places)-mostPlaces):]
}

// towards says where the answer to a turn goes, when that is not where it came from.
func (r *Row) towards(turn Turn) (route string, docked bool) {
	if turn.Deliver != "" || !turn.Follows || !turn.Owner || r.Dock == nil {
		return turn.Deliver, false
	}
	return r.Dock.Route, true
}

// Places are the direct chats that the owner wrote from in a conversation, the newest
// last, and where its answers go instead of there; dock is nil for nowhere.
func (m *Manager) Places(key string) (places []Place, dock *Place, err error) {
	err = m.DB.View(func(tx *store.Tx) error {
		row, _, err := m.t.sessions.Get(tx, []byte(key))
		places, dock = row.Places, row.Dock
		return err
	})
	return places, dock, err
}

// SetDock says where the answers to the owner go from now on; nil: where they write.
func (m *Manager) SetDock(ctx context.Context, key string, to *Place) error {
	_, err := m.edit(ctx, key, "patch", true, func(r *Row) error {
		r.Dock = to
		return nil
	})
	return err
}

// messageOrigin is where a message came from, for whoever reads it; nil for the
// gateway's own clients.
func messageOrigin(turn Turn) *protocol.MessageOrigin {
	o := turn.Origin
	if o == nil {
		return nil
	}
	out := &protocol.MessageOrigin{Channel: o.Provider, AccountID: o.AccountID, Sender: cmp.Or(o.Sender, o.Label, o.From), SenderID: o.From,
		Owner: turn.Owner}
	if o.ChatType != "direct" && o.ChatType != "" {
		out.Group = o.Label
	}
	return out
}

// answersTo is where the answer to a message goes, nil when that is where it came from.
func answersTo(rec Run, row Row) *protocol.MessageOrigin {
	at := row.Origin
	if rec.Docked {
		at = &row.Dock.Origin
	}
	if to, _ := rec.Towards(); to == rec.Route || at == nil {
		return nil
	}
	out := &protocol.MessageOrigin{Channel: at.Provider, AccountID: at.AccountID, Sender: cmp.Or(at.Label, at.From), SenderID: at.From,
		Owner: rec.Docked}
	if at.ChatType != "direct" {
		out.Group, out.Sender = at.Label, ""
	}
	return out
}

// presentPlaces tells clients where answers of a session may go.
func presentPlaces(out *protocol.SessionRow, r Row) {
	if r.Dock != nil {
		out.Dock = originOf(&r.Dock.Origin)
	}
	at := r.Origin
	if r.Dock != nil {
		at = &r.Dock.Origin
	}
	if at != nil {
		out.LastChannel, out.LastTo, out.LastAccountID = at.Provider, at.To, at.AccountID
		out.DeliveryContext = &protocol.DeliveryContext{Channel: at.Provider, To: at.To, AccountID: at.AccountID, ThreadID: at.ThreadID}
	}
}

func originOf(o *Origin) *protocol.SessionOrigin {
	return &protocol.SessionOrigin{Label: o.Label, Provider: o.Provider, From: o.From, To: o.To, AccountID: o.AccountID, ThreadID: o.ThreadID}
}
