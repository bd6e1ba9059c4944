// Package conformance is what the contract of package channel says, as rows that
// are tried one by one against a channel whose network does what it is told. It owns
// what is tried and what people are told of it; package channeltest runs it in
// tests, and package check on programs that others wrote.
package conformance

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// T is what a row tells. *testing.T is one; Fatalf and Skipf end the row's
// goroutine.
type T interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// Network is the fake behind the channel under test. loopback.Net is one.
type Network interface {
	// Script says what happens to the channel's next requests. A network that
	// cannot play a kind of fault panics or fails the test; see Setup.Skip.
	Script(faults ...loopback.Fault)
	// Receive is somebody writing to us. The channel, account and time may be
	// the network's own.
	Receive(in channel.Inbound)
	// Taken says whether the channel told the network that a message was taken.
	Taken(messageID string) bool
	// Messages is what people see, in order, with the files, reactions and threads
	// that they have. Deleted ones may be left out.
	Messages() []loopback.Message
}

// CallingNetwork is a Network that calls its channel.
type CallingNetwork interface {
	// Calls tells it which one, before the channel runs and after a restart.
	Calls(ch channel.Channel)
}

// FileNetwork is a Network on which people send files.
type FileNetwork interface {
	// ReceiveFile is somebody sending us a file, with a text where there is one.
	ReceiveFile(in channel.Inbound, f loopback.File)
}

// MenuNetwork is a Network on which people see a menu of commands.
type MenuNetwork interface {
	// Menu are the names and descriptions that people see in a language, "" for all
	// others.
	Menu(language string) [][2]string
}

// Setup is one channel with its network.
type Setup struct {
	Channel channel.Channel
	Net     Network
	Target  channel.Target           // a conversation that takes messages
	Thread  channel.Target           // a thread of one; zero: none is tried
	Inbound channel.Inbound          // what Receive understands; MessageID and Text are set by the suite
	NextID  func(n int) string       // message ids of the network, nil: "m1", "m2" …
	Skip    map[loopback.Kind]string // faults that cannot happen on this network, and why
	// Cannot names rows that cannot be tried on this network, and why. What the
	// limits and abilities of the channel rule out needs no entry.
	Cannot map[string]string
	// Files are the local files that may be sent: Open is the OpenFile of the
	// account. A channel that sends files needs it.
	Files *Files
	// Again makes the channel of the same account once more, as after a restart;
	// nil: Run of the same one begins again.
	Again func() channel.Channel
	// Connected: it sends only while Run runs. Then the suite runs it, and begins
	// when its status says that it receives.
	Connected bool
	// Waits bounds how long a row waits for the network; 0: 5 s.
	Waits time.Duration

	got <-chan channel.Inbound
}

func (s *Setup) id(n int) string {
	if s.NextID != nil {
		return s.NextID(n)
	}
	return fmt.Sprintf("m%d", n)
}

func (s *Setup) wait() time.Duration { return cmp.Or(s.Waits, 5*time.Second) }

// Row is one thing that the contract says.
type Row struct {
	Name string
	What string // that is tried, for people
	Do   string // when it does not hold

	run func(T, *Setup)
	// alone: the row runs the channel itself, or does not want it to run. hears: it
	// is run also when it could send without, and what comes in is Setup.got.
	alone, hears bool
	// cannot says why a channel like this one has no such row; nil, "": it has.
	cannot func(*Setup) string
}

// Try tries a row with a setup of its own. A row that the network cannot do is
// skipped with the words "cannot: " and why.
func (r Row) Try(t T, s *Setup) {
	t.Helper()
	for name := range s.Cannot {
		if _, ok := Find(name); !ok {
			t.Fatalf("Setup.Cannot names %q, which is no row", name)
		}
	}
	s.calls()
	if why := s.Cannot[r.Name]; why != "" {
		t.Skipf("cannot: %s", why)
	}
	if r.hears || s.Connected && !r.alone { // what it can do is known when it is connected
		s.got, _ = receiving(t, s, 0)
	}
	if r.cannot != nil {
		if why := r.cannot(s); why != "" {
			t.Skipf("cannot: %s", why)
		}
	}
	r.run(t, s)
}

// Find is the row of a name.
func Find(name string) (Row, bool) {
	for _, r := range Rows() {
		if r.Name == name {
			return r, true
		}
	}
	return Row{}, false
}

func (s *Setup) calls() {
	if n, ok := s.Net.(CallingNetwork); ok {
		n.Calls(s.Channel)
	}
}

func bounded(t T, s *Setup) context.Context {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), s.wait())
	t.Cleanup(stop)
	return ctx
}

// eventually waits until something holds.
func (s *Setup) eventually(t T, what string, holds func() bool) {
	t.Helper()
	ctx := bounded(t, s)
	for !holds() {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("after %v: %s", s.wait(), what)
		}
	}
}
