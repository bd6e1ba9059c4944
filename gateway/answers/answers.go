// Package answers is the way of an answer from a run to those who read it: to the
// gateway's own clients (Clients) and to messaging networks (Networks). Both
// subscribe to package session (session.Subscriber). What is seen while an answer
// is made is not durable; its end is put into the outboxes in the transaction that
// makes it true.
//
// It does not own how frames travel (server), how messages are cut, paced, retried
// and receipted (outbound), nor what programs hear that wait for their answer
// (package hook).
package answers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/outbound/sendfile"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Sessions tells about sessions.
type Sessions interface {
	Get(key string) (protocol.SessionRow, bool, error)
}

// Redactor hides secrets.
type Redactor interface {
	Text(s string) string
}

// Options are the parts that a Networks needs; all of them.
type Options struct {
	Store     *store.DB
	Sessions  Sessions
	Settings  *config.File
	Agents    *agents.Directory
	Channels  *hub.Hub
	Deliverer *outbound.Deliverer
	Files     *sendfile.Files
	Redactor  Redactor
	Work      *background.Group // what is shown ends with it
	Now       func() time.Time
	Logger    *slog.Logger
}

// Networks takes answers to messaging networks. Its methods may be called from
// several goroutines.
type Networks struct {
	Options
	drops dropNotices

	mu   sync.Mutex
	runs map[string]*liveRun
}

// NewNetworks returns the way to messaging networks.
func NewNetworks(o Options) *Networks { return &Networks{Options: o, runs: map[string]*liveRun{}} }

// Subscriber is what it hears of sessions.
func (n *Networks) Subscriber() session.Subscriber {
	return session.Subscriber{Outbox: n, Follow: n, Notices: n}
}

// Put delivers the end of a run to the network that its message came from, if it
// came from one. What was shown there before is taken over by it, or removed.
func (n *Networks) Put(tx *store.Tx, ev protocol.ChatEvent, run session.Run) error {
	if to, _ := run.Towards(); to == "" {
		return nil
	}
	shown, err := n.take(tx, run)
	if err != nil {
		return err
	}
	if shown.showsThoughts {
		if err := n.Deliverer.PutRemoval(tx, shown.thoughts); err != nil {
			return err
		}
	}
	switch d, ok := n.deliveryOf(ev, run, shown.preview); {
	case ok:
		return n.Deliverer.Put(tx, d)
	case shown.preview.MessageID != "":
		return n.Deliverer.PutRemoval(tx, shown.preview)
	}
	return nil
}

// Wake says that ends were committed.
func (n *Networks) Wake() { n.Deliverer.Wake() }

// Tell sends a notice of Hearth's own where a run's answer goes, in a transaction;
// id tells it from others of the run. Call Wake after the commit.
func (n *Networks) Tell(tx *store.Tx, run session.Run, id, text string) error {
	to, _ := run.Towards()
	r, ok := channel.ParseRoute(to)
	if !ok || !r.Delivered() || !asked(run) || !n.MaySend(run.SessionKey, r) {
		return nil
	}
	return n.Deliverer.Put(tx, outbound.Delivery{
		ID: run.ID + ":notice:" + id, Channel: r.Channel, To: r.Target(""), Session: run.SessionKey, RunID: run.ID, Text: text,
		Reply: outbound.ReplyOff,
	})
}

// Deliver puts a message beside the answers that are delivered; one of the same id
// is delivered once.
func (n *Networks) Deliver(ctx context.Context, d outbound.Delivery) error {
	return n.Store.Update(ctx, store.Write{Must: true, Then: n.Deliverer.Wake, Do: func(tx *store.Tx) error { return n.Deliverer.Put(tx, d) }})
}

// MaySend asks the send policy whether a session may write to a chat.
func (n *Networks) MaySend(key string, r channel.Route) bool {
	row, _, err := n.Sessions.Get(key)
	if err != nil {
		return false
	}
	return n.maySendAs(key, r, map[string]policy.SendOverride{"allow": policy.SendOn, "deny": policy.SendOff}[row.SendPolicy])
}

func (n *Networks) maySendAs(key string, r channel.Route, override policy.SendOverride) bool {
	c := n.Settings.Snapshot().Config
	v := policy.Section.Of(c).Sending.Decide(rules.Keys(c), policy.Delivery{Key: key, Channel: r.Channel, ChatType: policy.Chat(r.Chat),
		Override: override})
	return v.Action != policy.Deny
}
