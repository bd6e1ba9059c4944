package session

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Subscriber is told what happens in sessions: the clients, the messaging networks,
// programs, sub-agents. Any part may be nil. Subscribers are told in the order in
// which they subscribed.
type Subscriber struct {
	Publish Publisher // of what is seen
	Outbox  Outbox    // of ends, durably
	Follow  Follower  // of runs that came by a route
	Notices Notices
	Hears   Listener
	Watches Watcher
}

// Notices sends words that are not the assistant's where a run's answer goes, with
// the transaction.
type Notices interface {
	Tell(tx *store.Tx, run Run, id, text string) error
}

// Subscribe adds a subscriber. It is called before Recover.
func (m *Manager) Subscribe(s Subscriber) {
	if s.Publish != nil {
		m.Publish = append(m.Publish.(publishers), s.Publish)
	}
	if s.Outbox != nil {
		m.Outbox = append(m.Outbox.(outboxes), s.Outbox)
	}
	if s.Follow != nil {
		m.Follow = append(m.Follow.(followers), s.Follow)
	}
	if s.Notices != nil {
		m.Tell = s.Notices.Tell
	}
	if s.Hears != nil {
		m.listeners = append(m.listeners, s.Hears)
	}
	if s.Watches != nil {
		m.watchers = append(m.watchers, s.Watches)
	}
}

// subscribers makes lists of who is told by the options.
func (o *Options) subscribers() {
	var p publishers
	var b outboxes
	var f followers
	if o.Publish != nil {
		p = publishers{o.Publish}
	}
	if o.Outbox != nil {
		b = outboxes{o.Outbox}
	}
	if o.Follow != nil {
		f = followers{o.Follow}
	}
	o.Publish, o.Outbox, o.Follow = p, b, f
}

type publishers []Publisher

func (list publishers) Delta(d Delta) {
	for _, p := range list {
		p.Delta(d)
	}
}

func (list publishers) Chat(ev protocol.ChatEvent) {
	for _, p := range list {
		p.Chat(ev)
	}
}

func (list publishers) Agent(ev protocol.AgentEvent) {
	for _, p := range list {
		p.Agent(ev)
	}
}

func (list publishers) SessionChanged(ev protocol.SessionsChanged) {
	for _, p := range list {
		p.SessionChanged(ev)
	}
}

func (list publishers) Message(ev protocol.SessionMessage) {
	for _, p := range list {
		p.Message(ev)
	}
}

type outboxes []Outbox

func (list outboxes) Put(tx *store.Tx, ev protocol.ChatEvent, run Run) error {
	for _, o := range list {
		if err := o.Put(tx, ev, run); err != nil {
			return err
		}
	}
	return nil
}

func (list outboxes) Wake() {
	for _, o := range list {
		o.Wake()
	}
}

type followers []Follower

func (list followers) Begin(run Run) {
	for _, f := range list {
		f.Begin(run)
	}
}

func (list followers) Think(runID, words string) {
	for _, f := range list {
		f.Think(runID, words)
	}
}

func (list followers) Say(runID, words string) {
	for _, f := range list {
		f.Say(runID, words)
	}
}

func (list followers) Intend(runID string, msg model.Message, usage model.Usage) {
	for _, f := range list {
		f.Intend(runID, msg, usage)
	}
}

func (list followers) Tool(runID, name string, args []byte) {
	for _, f := range list {
		f.Tool(runID, name, args)
	}
}

func (list followers) End(ctx context.Context, run Run, message *protocol.Message, failed bool) {
	for _, f := range list {
		f.End(ctx, run, message, failed)
	}
}

func (list followers) Done(runID string) {
	for _, f := range list {
		f.Done(runID)
	}
}
