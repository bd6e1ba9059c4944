// Package loopback is a messaging network in memory: a Net holds what was said
// and does what a script tells it to (fail, limit, delay, lose confirmations,
// repeat), and a Channel speaks to it with every optional ability. It is for
// tests and demonstrations and carries nothing beyond the process.
package loopback

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Op is a request to the network.
type Op string

// The requests that a fault can be for.
const (
	OpAny    Op = ""
	OpSend   Op = "send"
	OpEdit   Op = "edit"
	OpDelete Op = "delete"
	OpTyping Op = "typing"
	OpReact  Op = "react"
	OpSettle Op = "settle"
	OpAnswer Op = "answer"
	OpPoll   Op = "poll"
	OpPin    Op = "pin"
	OpRead   Op = "read"
	OpMenu   Op = "menu"
)

// Kind is what goes wrong.
type Kind string

// What can happen to a request.
const (
	OK      Kind = "ok"      // nothing; keeps a place in the script
	Passing Kind = "passing" // a failure that passes; nothing was done
	Limited Kind = "limited" // asked to wait After; nothing was done
	Refused Kind = "refused" // never
	Auth    Kind = "auth"    // the credential is not accepted
	Lost    Kind = "lost"    // done, but the connection broke before the answer
	Broken  Kind = "broken"  // not done, and the connection broke: nobody can tell
)

// Fault is one entry of a script. After delays the request, or is how long
// Limited asks to wait.
type Fault struct {
	On    Op
	Kind  Kind
	After time.Duration
}

// Message is what people on the network see.
type Message struct {
	ID        string
	To        channel.Target
	Text      string
	Media     []channel.Media
	Files     []File // what is in them, where the channel can open files
	Key       string
	Edits     int
	Deleted   bool
	Reactions []string
	Choices   []channel.Choice // the buttons that it has now
	Words     []string         // that were said to who pressed one
	Options   []string         // of a poll; its question is Text
	Pinned    bool
	Silent    bool // it came without a sound

	at time.Time // when it was sent
}

// File is one with what is in it.
type File struct {
	Name, MIME string
	Content    []byte
}

// Net is the network. Its zero value is not usable; see NewNet.
type Net struct {
	mu       sync.Mutex
	script   []Fault
	messages []Message
	calls    map[Op]int
	inbox    []channel.Inbound
	taken    map[string]bool
	files    map[string]File // that people sent, by the URL of their Media
	menu     []channel.Command
	repeat   int
	once     bool
	changed  chan struct{} // closed and replaced at every change
}

// NewNet returns a quiet network without faults.
func NewNet() *Net {
	return &Net{calls: map[Op]int{}, taken: map[string]bool{}, files: map[string]File{}, repeat: 1, changed: make(chan struct{})}
}

// Script says what happens to the next requests. A fault waits for a request
// that it is for; each is used once.
func (n *Net) Script(faults ...Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.script = append(n.script, faults...)
}

// RefuseRepeats makes the network take a message key once: the next one gets
// the receipt of the first.
func (n *Net) RefuseRepeats() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.once = true
}

// Repeat makes the network deliver every inbound message times over.
func (n *Net) Repeat(times int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.repeat = times
}

// Receive is somebody writing to us.
func (n *Net) Receive(in channel.Inbound) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for range n.repeat {
		n.inbox = append(n.inbox, in)
	}
	n.change()
}

// ReceiveFile is somebody sending us a file.
func (n *Net) ReceiveFile(in channel.Inbound, f File) {
	n.mu.Lock()
	url := fmt.Sprintf("file-%d", len(n.files)+1)
	n.files[url] = f
	n.mu.Unlock()
	in.Media = append(slices.Clone(in.Media), channel.Media{MIME: f.MIME, Name: f.Name, URL: url, Size: int64(len(f.Content))})
	n.Receive(in)
}

// Taken says whether the inbox accepted a message.
func (n *Net) Taken(messageID string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.taken[messageID]
}

// Messages returns what can be seen, in order, deleted ones included.
func (n *Net) Messages() []Message {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.messages)
}

// Texts returns the texts of the messages that were not deleted.
func (n *Net) Texts() (out []string) {
	for _, m := range n.Messages() {
		if !m.Deleted {
			out = append(out, m.Text)
		}
	}
	return out
}

// Calls is how often a request was made, failed ones included.
func (n *Net) Calls(op Op) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.calls[op]
}

// Wait returns when done holds of the network.
func (n *Net) Wait(ctx context.Context, done func(*Net) bool) error {
	for {
		n.mu.Lock()
		changed := n.changed
		n.mu.Unlock()
		if done(n) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// change wakes who waits. The lock is held.
func (n *Net) change() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// errPassing is what a network without a better answer says.
var errPassing = errors.New("the network answered 503")

// begin applies the script to a request. When err is nil the lock is held, and
// after is what the request ends with once it was done.
func (n *Net) begin(ctx context.Context, op Op) (after error, err error) {
	n.mu.Lock()
	n.calls[op]++
	n.change()
	i := slices.IndexFunc(n.script, func(f Fault) bool { return f.On == OpAny || f.On == op })
	var f Fault
	if i >= 0 {
		f = n.script[i]
		n.script = slices.Delete(n.script, i, i+1)
	}
	if f.After > 0 && f.Kind != Limited {
		n.mu.Unlock()
		t := time.NewTimer(f.After)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		n.mu.Lock()
	}
	switch err := f.err(); {
	case ctx.Err() != nil:
		n.mu.Unlock()
		return nil, ctx.Err()
	case f.Kind == Lost:
		return err, nil
	case err != nil:
		n.mu.Unlock()
		return nil, err
	}
	return nil, nil
}

func (f Fault) err() error {
	switch f.Kind {
	case Passing:
		return errPassing
	case Limited:
		return &channel.RateLimit{After: f.After}
	case Refused:
		return fmt.Errorf("%w: the script says so", channel.ErrRefused)
	case Auth:
		return channel.ErrAuth
	case Lost, Broken:
		return fmt.Errorf("%w: the connection broke", channel.ErrUncertain)
	}
	return nil
}

// find returns a message that can be changed. The lock is held.
func (n *Net) find(to channel.Target, id string) (*Message, error) {
	i, err := strconv.Atoi(id)
	if err != nil || i < 1 || i > len(n.messages) {
		return nil, fmt.Errorf("%w: there is no message %q", channel.ErrRefused, id)
	}
	m := &n.messages[i-1]
	if m.Deleted || m.To.Conversation != to.Conversation {
		return nil, fmt.Errorf("%w: there is no message %q in %q", channel.ErrRefused, id, to.Conversation)
	}
	return m, nil
}
