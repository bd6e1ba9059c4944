package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/outbound/reply"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
	"github.com/hearth-assistant/hearth/gateway/spawn"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// ends puts the end of a run where it has to go: always to the gateway's own
// clients, and to a messaging network when the message came from one. Both rows
// are in the transaction that makes the end true.
type ends struct {
	g *Gateway
}

func (e ends) Put(tx *store.Tx, ev protocol.ChatEvent, run session.Run) error {
	if err := e.g.outbox.Put(tx, ev); err != nil {
		return err
	}
	if err := (spawn.Ends{Book: e.g.spawns}).Put(tx, ev, run); err != nil {
		return err
	}
	d, ok := e.g.deliveryOf(ev, run)
	if !ok {
		return nil
	}
	return e.g.deliverer.Put(tx, d)
}

func (e ends) Wake() {
	e.g.outbox.Wake()
	e.g.deliverer.Wake()
	e.g.spawns.Wake()
}

// deliveryOf is what a run's end says in a messaging network; ok is false when
// it says nothing: the run came from our own clients, its message was answered
// together with another, sending is held back, or the model chose silence.
func (g *Gateway) deliveryOf(ev protocol.ChatEvent, run session.Run) (d outbound.Delivery, ok bool) {
	r, ok := channel.ParseRoute(run.Route)
	if !ok || run.Into != "" || !r.Delivered() || !g.maySend(run.SessionKey, r) && !g.acknowledges(ev, run, r) {
		return d, false
	}
	lv := g.levelsOf(run)
	p := reply.Read(g.wordsFor(ev, run, r, lv))
	d = outbound.Delivery{ID: run.ID, Channel: r.Channel, To: r.Target(run.ReplyTo), Session: run.SessionKey, RunID: run.ID}
	account := g.channels.Account(r.Channel, r.Account) // with the network's settings below it
	d.Reply = outbound.ReplyMode(account.ReplyToMode)
	if lr := g.live.get(run.ID); lr != nil {
		d.Preview, d.EditPreview, d.PreviewText = lr.previewID, lr.edit, lr.shown
		if lr.blocks != nil {
			p = lr.turn.Left(p)
		}
	}
	thoughts := ""
	if lv.reasoning == "on" && p.Text != "" {
		thoughts = quoted(thoughtsOf(ev.Message))
	}
	if p.Empty() && d.Preview == "" {
		return d, false
	}
	p = g.attach(run, r, p)
	d.Text, d.Media = p.Text, p.Media
	if p.Text != "" {
		global := g.config.Snapshot().Config.Messages.ResponsePrefix
		d.Text = reply.WithPrefix(reply.Prefix(account.ResponsePrefix, nil, &global), p.Text)
		if thoughts != "" {
			d.Text = thoughts + "\n\n" + d.Text
		}
	}
	return d, true
}

// wordsFor is the text of a run's end for people on a network.
func (g *Gateway) wordsFor(ev protocol.ChatEvent, run session.Run, r channel.Route, lv levels) string {
	text := ""
	if ev.Message != nil {
		text = ev.Message.Text()
	}
	if ev.StopReason == "dropped" && text == "" && g.drops.due(run.Route, g.opts.Now()) {
		return dropNotice
	}
	if ev.State != protocol.ChatError {
		return text
	}
	shown, ok := reply.ErrorShown(reply.ConversationOf(r.Chat), text != "", ev.ErrorMessage, g.rawDetail(ev.ErrorMessage, run.Detail), lv.verbose == "full")
	switch {
	case !ok:
		return text
	case text == "":
		return shown
	}
	return text + "\n\n" + shown
}

// acknowledges reports whether an end is the answer to /send off, which is the
// last that is heard; a rule of the settings holds it back too.
func (g *Gateway) acknowledges(ev protocol.ChatEvent, run session.Run, r channel.Route) bool {
	return ev.StopReason == "command" && ev.Message != nil && ev.Message.Text() == command.HeldBack && g.maySendAs(run.SessionKey, r, policy.SendInherit)
}

// maySend asks the send policy.
func (g *Gateway) maySend(key string, r channel.Route) bool {
	row, _, err := g.session.Get(key)
	if err != nil {
		return false
	}
	return g.maySendAs(key, r, map[string]policy.Override{"allow": policy.SendOn, "deny": policy.SendOff}[row.SendPolicy])
}

func (g *Gateway) maySendAs(key string, r channel.Route, override policy.Override) bool {
	c := g.config.Snapshot().Config
	v := rules.Sending(c).Decide(rules.Keys(c), policy.Delivery{Key: key, Channel: r.Channel, ChatType: policy.Chat(r.Chat), Override: override})
	return v.Action != policy.Deny
}

// heartbeatOut sends what heartbeats found.
type heartbeatOut struct{ g *Gateway }

func (o heartbeatOut) MaySend(key string, r channel.Route) bool { return o.g.maySend(key, r) }

func (o heartbeatOut) Deliver(ctx context.Context, d outbound.Delivery) error {
	return o.g.store.Update(ctx, store.Write{Must: true, Then: o.g.deliverer.Wake, Do: func(tx *store.Tx) error { return o.g.deliverer.Put(tx, d) }})
}
