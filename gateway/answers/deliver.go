package answers

import (
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/outbound/reply"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
)

// deliveryOf is what a run's end says in a messaging network; ok is false when
// it says nothing: the run came from our own clients, its message was answered
// together with another, sending is held back, or the model chose silence.
func (n *Networks) deliveryOf(ev protocol.ChatEvent, run session.Run, shown outbound.PreviewRow) (d outbound.Delivery, ok bool) {
	to, replyTo := run.Towards()
	r, ok := channel.ParseRoute(to)
	if !ok || run.Into != "" || !r.Delivered() || !n.MaySend(run.SessionKey, r) && !n.acknowledges(ev, run, r) {
		return d, false
	}
	lv := n.levelsOf(run)
	p := reply.Read(n.wordsFor(ev, run, r, lv))
	d = outbound.Delivery{ID: run.ID, Channel: r.Channel, To: r.Target(replyTo), Session: run.SessionKey, RunID: run.ID}
	account := n.Channels.Account(r.Channel, r.Account) // with the network's settings below it
	d.Reply = outbound.ReplyMode(account.ReplyToMode)
	lr := n.get(run.ID)
	n.showing(&d, lr, shown)
	if lr != nil && lr.blocks != nil {
		p = lr.turn.Left(p)
	}
	thoughts := ""
	if lv.reasoning == "on" && p.Text != "" && asked(run) {
		thoughts = quoted(thoughtsOf(ev.Message))
	}
	if p.Empty() && d.Preview == "" {
		return d, false
	}
	p = n.attach(run, r, p)
	d.Text, d.Media = p.Text, p.Media
	if p.Text != "" {
		global := PrefixSection.Of(n.Settings.Snapshot().Config)
		d.Text = reply.WithPrefix(reply.Prefix(account.ResponsePrefix, nil, &global), p.Text)
		if thoughts != "" {
			d.Text = thoughts + "\n\n" + d.Text
		}
	}
	return d, true
}

// asked reports whether a run's answer goes to whoever asked for it, or to the owner:
// somebody else gets the words alone.
func asked(run session.Run) bool { return run.Deliver == "" || run.Docked }

// wordsFor is the text of a run's end for people on a network.
func (n *Networks) wordsFor(ev protocol.ChatEvent, run session.Run, r channel.Route, lv levels) string {
	text := ""
	if ev.Message != nil {
		text = ev.Message.Text()
	}
	if ev.StopReason == "dropped" && text == "" && n.drops.due(run.Route, n.Now()) {
		return dropNotice
	}
	if ev.State != protocol.ChatError {
		return text
	}
	shown, ok := reply.ErrorShown(reply.ConversationOf(r.Chat), text != "", ev.ErrorMessage, n.rawDetail(ev.ErrorMessage, run.Detail),
		lv.verbose == "full")
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
func (n *Networks) acknowledges(ev protocol.ChatEvent, run session.Run, r channel.Route) bool {
	return ev.StopReason == "command" && ev.Message != nil && ev.Message.Text() == command.HeldBack &&
		n.maySendAs(run.SessionKey, r, policy.SendInherit)
}
