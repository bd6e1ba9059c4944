package inbound

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/inbound/envelope"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/text"
)

const (
	longestText = 256 << 10
	longestID   = 512
	// albumWait is how long the next picture of an album may take.
	albumWait = 1500 * time.Millisecond
	// backlogAge is how late a message is that waited for Hearth to come back;
	// what waited with it follows within backlogWait.
	backlogAge  = 2 * time.Minute
	backlogWait = 2 * time.Second
)

// Accepted is a turn for a session.
type Accepted struct {
	ID         string `json:"id"` // the same on every attempt: take it as the run's id
	SessionKey string `json:"sessionKey"`
	// Text is what the model reads; Prompt is the same in its parts, for those
	// who change one: Prompt.Body = …; Prompt.Render().
	Text   string          `json:"text"`
	Prompt envelope.Prompt `json:"prompt"`
	// CommandBody is what the person typed, for commands and directives.
	CommandBody    string           `json:"commandBody"`
	Origin         Origin           `json:"origin"`
	Reply          channel.Target   `json:"reply"`
	MessageIDs     []string         `json:"messageIds"`
	ChatType       channel.ChatType `json:"chatType"`
	SenderID       string           `json:"senderId"`
	SenderName     string           `json:"senderName,omitempty"`
	SenderIsOwner  bool             `json:"senderIsOwner,omitempty"`
	Mentioned      bool             `json:"mentioned,omitempty"`
	Media          []channel.Media  `json:"media,omitempty"`
	QuoteSelected  bool             `json:"quoteSelected,omitempty"`  // the sender chose a part of a message to reply to
	PossibleRepeat bool             `json:"possibleRepeat,omitempty"` // the same words came a moment ago
	At             time.Time        `json:"at"`
}

// Origin explains where a session's messages come from.
type Origin struct {
	Label     string `json:"label"`
	Provider  string `json:"provider"`
	From      string `json:"from"`
	To        string `json:"to"`
	AccountID string `json:"accountId"`
	ThreadID  string `json:"threadId,omitempty"`
	Room      string `json:"room,omitempty"`
	Space     string `json:"space,omitempty"`
}

// Sessions takes turns. Submit returns nil when the turn is durable; the same
// ID again must then change nothing. An error that wraps ErrRefused ends the
// message; one that wraps ErrBusy says nothing about the message and is tried
// again for as long as it takes; any other is tried three times.
type Sessions interface {
	Submit(ctx context.Context, a Accepted) error
}

var (
	// ErrRefused: the session will never take this turn.
	ErrRefused = errors.New("the session did not take the message")
	// ErrBusy: nothing can be taken now.
	ErrBusy = errors.New("messages cannot be taken right now")
)

// Settings that may change while the gate works.
type Settings struct {
	Agent             func(channel.Inbound) string // who answers a message; nil: the main agent
	Networks          channel.Kinds                // what people call them
	Keys              policy.Keys
	Envelope          envelope.Settings
	Debounce          time.Duration
	DebounceByChannel map[string]time.Duration
	HistoryLimit      int
}

func (s Settings) agent(in channel.Inbound) string {
	if s.Agent == nil {
		return ""
	}
	return s.Agent(in)
}

func (s Settings) debounce(channel string) time.Duration {
	if d, ok := s.DebounceByChannel[channel]; ok {
		return d
	}
	return s.Debounce
}

// Outgoing knows the messages that were sent from here.
type Outgoing interface {
	// SentAs says in which thread a message of ours was sent, and what it says.
	SentAs(network string, to channel.Target, messageID string) (thread, text string, ok bool)
}

// Questions are those that stand on networks with buttons.
type Questions interface {
	// Look says what a press is the same as saying, or the words for who pressed when
	// it does nothing.
	Look(in channel.Inbound, owner bool) (says, word string, err error)
	// Take notes a press with its acceptance; an error means that it does nothing any
	// more.
	Take(tx *store.Tx, in channel.Inbound, owner bool) error
	// Taken and Tell say words to who pressed, without waiting.
	Taken(in channel.Inbound)
	Tell(in channel.Inbound, word string)
}

// Options wires a Gate.
type Options struct {
	DB       *store.DB
	Contacts *contact.Book
	Sessions Sessions
	// Questions knows what buttons mean; nil: none does anything.
	Questions Questions
	// Sent knows our own messages; nil: none is known.
	Sent     Outgoing
	Settings func() Settings
	Policy   func(channel, account string) Policy
	// IsCommand tells control commands, which do not wait for more text; nil:
	// what begins with a slash and a letter.
	IsCommand func(text string) bool
	// Tell sends a stranger their pairing code, and tells whoever may write what
	// became of a message that has no answer. It must not wait for long.
	Tell       func(ctx context.Context, channelID string, to channel.Target, text string)
	OnDecision func(Decision)
	// Broken hears of a panic, where it happened; nil: nobody.
	Broken func(where string, panicked any)
	Logger *slog.Logger
	Now    func() time.Time
	Local  *time.Location // of this machine
	NewID  func() string
}

// Gate is the one way in. Run must be running for messages to be handed on.
type Gate struct {
	Options
	t    tables
	wake chan struct{}
	up   chan struct{} // closed when Run has taken up what an earlier run left

	mu   sync.Mutex
	open map[string]*batch // by stream: text that waits for more
	// coming counts by stream the messages that are being made durable: what they
	// may join waits for them, however long the disk takes.
	coming map[string]int
	ready  []*batch        // to be handed on, in order
	late   map[string]late // by stream
	// tellAt is when to say what was left out; zero: nothing was.
	tellAt time.Time
}

// New returns a gate.
func New(opts Options) *Gate {
	if opts.IsCommand == nil {
		opts.IsCommand = slashCommand
	}
	return &Gate{Options: opts, t: newTables(), wake: make(chan struct{}, 1), up: make(chan struct{}), open: make(map[string]*batch),
		coming: make(map[string]int), late: make(map[string]late)}
}

func slashCommand(text string) bool {
	return len(text) > 1 && text[0] == '/' && (text[1] >= 'a' && text[1] <= 'z' || text[1] >= 'A' && text[1] <= 'Z')
}

// Receive is the channel.Inbox of every channel. It waits for Run to have
// taken up what an earlier run of the gateway left, so that order is kept.
func (g *Gate) Receive(ctx context.Context, in channel.Inbound) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = g.panicked(r)
		}
		if err != nil && !passing(ctx, err) {
			err = g.poisoned(ctx, in, err)
		}
	}()
	select {
	case <-g.up:
	case <-ctx.Done():
		return ctx.Err()
	}
	return g.receive(ctx, in, false)
}

// passing tells errors that are not about the message.
func passing(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, ErrBusy) || errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrFailed) ||
		errors.Is(err, store.ErrGone) || errors.Is(err, store.ErrClosed) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// receive decides over a message; again is for one that a person wants tried once
// more, however old it is by now.
func (g *Gate) receive(ctx context.Context, in channel.Inbound, again bool) error {
	if why := malformed(in); why != "" {
		g.decide(RuleMalformed, why, in, "")
		return nil
	}
	in.Text, in.Command = cut(in.Text, longestText), cut(in.Command, longestText)
	in.ReplyToText = cut(in.ReplyToText, longestText/16)
	in.Forwarded.Text = cut(in.Forwarded.Text, longestText)
	var known *contact.Contact
	if in.Chat == channel.Direct {
		c, ok, err := g.Contacts.Lookup(in.Channel, in.Account, in.SenderID)
		if err != nil {
			return fmt.Errorf("look up the sender: %w", err)
		}
		if ok {
			known = &c
		}
	}
	pol := g.Policy(in.Channel, in.Account)
	if in.Press.Pressed() {
		return g.pressed(ctx, in, pol, known)
	}
	if in.Reaction.Reacted() {
		return g.reacted(ctx, in, pol, known)
	}
	v := pol.admit(in, known)
	switch {
	case v.rule == RulePairing:
		return g.pair(ctx, in, v)
	case v.rule != RuleAccepted && v.rule != RuleMention:
		g.decide(v.rule, v.detail, in, "")
		return nil
	case in.Edited:
		return g.edit(ctx, in)
	case v.rule == RuleMention:
		return g.overhear(ctx, in, pol, v)
	case in.Text == "" && len(in.Media) == 0 && in.Forwarded.Text == "":
		g.decide(RuleEmpty, "the message has neither text nor a file", in, "")
		return nil
	}
	if now := g.Now(); !again {
		if rule := g.leftOut(in, now); rule != "" {
			return g.skip(ctx, in, rule, now)
		}
	}
	return g.take(ctx, in, pol, v, nil)
}

func malformed(in channel.Inbound) string {
	switch {
	case in.Channel == "" || in.Conversation == "":
		return "the message does not say where it comes from"
	case in.SenderID == "":
		return "the message does not say who sent it"
	case in.Chat != channel.Direct && in.Chat != channel.Group && in.Chat != channel.Room:
		return "the message does not say what kind of chat it is from"
	}
	for _, id := range []string{in.Channel, in.Account, in.Conversation, in.Thread, in.SenderID, in.MessageID} {
		if len(id) > longestID {
			return fmt.Sprintf("an id of the message is longer than %d bytes", longestID)
		}
	}
	return ""
}

// cut shortens a text, never inside a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return text.Prefix(s, n) + "… (the rest was cut)"
}

// take makes a message durable and puts it in line; with is done in the same
// transaction, if it is set.
func (g *Gate) take(ctx context.Context, in channel.Inbound, pol Policy, v verdict, with func(*store.Tx) error) error {
	set := g.Settings()
	wait := set.debounce(in.Channel)
	command := g.IsCommand(in.Typed()) && !(pol.CoalesceCommands && in.Chat == channel.Direct)
	now := g.Now()
	switch {
	case command:
		wait = 0
	case len(in.Media) > 0 && in.Album != "":
		wait = albumWait // the others follow at once
	case len(in.Media) > 0:
		wait = 0
	case isLate(in, now):
		// Hundreds of turns would push each other out of the queue of the session:
		// what somebody wrote meanwhile is read together (F-CHAN-06).
		wait = max(wait, backlogWait)
	}
	row := pendingRow{In: in, Owner: v.owner, Shared: v.shared, ReceivedAt: now.UnixMilli()}
	var seen repeat
	var b *batch
	defer g.expect(streamKey(in))()
	err := g.DB.Update(ctx, store.Write{
		Do: func(tx *store.Tx) (err error) {
			b = nil
			if seen, err = g.t.remember(tx, in, now); err != nil || seen.drop {
				return err
			}
			if with != nil {
				if err = with(tx); err != nil {
					return err
				}
			}
			row.PossibleRepeat = seen.rule == RulePossibleRepeat
			if row.Seq, err = g.t.pending.NextSeq(tx); err != nil {
				return err
			}
			b = newBatch(row)
			if wait > 0 {
				return g.t.pending.Put(tx, store.Uint64Key(row.Seq), row)
			}
			b.sealed, err = g.seal(tx, row.Seq, []pendingRow{row}, set)
			return err
		},
		Then: func() {
			if b != nil {
				lined := g.Now() // waiting begins when it is kept, not before
				b.due, b.limit = lined.Add(wait), lined.Add(10*wait)
				g.line(b)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("keep a message: %w", err)
	}
	if seen.drop {
		g.decide(seen.rule, seen.detail, in, "")
		return nil
	}
	failpoint.Hit("inboundAccepted")
	return nil
}

// pair asks the owner about a stranger, and tells the stranger their code the
// first time.
func (g *Gate) pair(ctx context.Context, in channel.Inbound, v verdict) error {
	r, fresh, ok, err := g.Contacts.Ask(ctx, contact.Person{
		Channel: in.Channel, Account: in.Account, ID: in.SenderID, Shown: envelope.Label(in.SenderShown),
		Name: envelope.Label(in.SenderName), Handle: envelope.Label(in.SenderHandle),
	}, in.Conversation)
	if err != nil {
		return fmt.Errorf("note a stranger's request: %w", err)
	}
	if !ok {
		g.decide(RulePairingFull, "too many strangers are waiting for the owner, or this one was rejected", in, "")
		return nil
	}
	if fresh && g.Tell != nil {
		g.Tell(ctx, in.Channel, channel.Target{Account: in.Account, Conversation: in.Conversation, Thread: in.Thread, ReplyTo: in.MessageID},
			"I do not know you yet. Ask the owner of this assistant to let you in with this code: "+r.Code+
				"\nIt is good for one hour. Your id here is "+envelope.Label(cmp.Or(in.SenderShown, in.SenderID))+".")
	}
	g.decide(v.rule, v.detail, in, "")
	return nil
}
