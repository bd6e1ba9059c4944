package channeltest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// receiving runs the channel and returns what comes in. stop waits until Run
// has returned and reports its error.
func receiving(t *testing.T, s *Setup, refuse int) (got <-chan channel.Inbound, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out := make(chan channel.Inbound, 64)
	ended := make(chan error, 1)
	go func() {
		ended <- s.Channel.Run(ctx, func(ctx context.Context, in channel.Inbound) error {
			out <- in
			if refuse > 0 {
				refuse--
				return errors.New("the store is full")
			}
			return nil
		})
	}()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(s.wait()): // the test's own context has ended in its clean-up
			t.Fatal("Run did not return after its context ended")
			return nil
		}
	}
	t.Cleanup(func() { _ = stop() })
	if s.Connected {
		s.connected(t)
	}
	return out, stop
}

// connected waits until the channel says that it receives.
func (s *Setup) connected(t *testing.T) {
	t.Helper()
	r, ok := s.Channel.(channel.Reporter)
	if !ok {
		t.Fatal("a channel that sends only while it runs says when it does: it is a Reporter")
	}
	ctx := bounded(t, s)
	for r.Status().State != channel.Receiving {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("it does not receive: %+v", r.Status())
		}
	}
}

func next(t *testing.T, s *Setup, got <-chan channel.Inbound) channel.Inbound {
	t.Helper()
	select {
	case in := <-got:
		return in
	case <-bounded(t, s).Done():
		t.Fatal("nothing came in")
		return channel.Inbound{}
	}
}

func (s *Setup) write(n int, text string) {
	in := s.Inbound
	in.MessageID, in.Text = s.id(n), text
	s.Net.Receive(in)
}

func testRunStops(t *testing.T, s *Setup) {
	got, stop := receiving(t, s, 0)
	s.write(1, "hello")
	next(t, s, got)
	if err := stop(); err != nil {
		t.Errorf("Run returned %v after its context ended, want nil", err)
	}
}

func testInbound(t *testing.T, s *Setup) {
	got, stop := receiving(t, s, 0)
	s.write(1, "one")
	s.write(2, "two")
	for i, want := range []string{"one", "two"} {
		in := next(t, s, got)
		if in.Text != want || in.MessageID != s.id(i+1) || in.Channel != s.Channel.ID() || in.Account != s.Channel.Account() {
			t.Errorf("message %d is %+v", i+1, in)
		}
		if in.Conversation == "" || in.SenderID == "" || in.Chat == "" {
			t.Errorf("message %d does not say where from: %+v", i+1, in)
		}
	}
	s.write(3, "three") // when it comes, the network knows that two was taken
	next(t, s, got)
	if !s.Net.Taken(s.id(1)) || !s.Net.Taken(s.id(2)) {
		t.Error("the network was not told that the messages were taken")
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func testRedelivery(t *testing.T, s *Setup) {
	got, stop := receiving(t, s, 1)
	s.write(1, "one")
	first, again := next(t, s, got), next(t, s, got)
	if first.MessageID != again.MessageID || again.Text != "one" {
		t.Errorf("a message that was not accepted came again as %+v, first %+v", again, first)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func testSendWhileReceiving(t *testing.T, s *Setup) {
	got, stop := receiving(t, s, 0)
	s.write(1, "one")
	next(t, s, got)
	if _, err := s.Channel.Send(bounded(t, s), channel.Message{To: s.Target, Text: "answer"}); err != nil {
		t.Error(err)
	}
	s.write(2, "two")
	next(t, s, got)
	if err := stop(); err != nil {
		t.Error(err)
	}
}
