package wire

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

type sink struct{ bytes.Buffer }

func (*sink) Close() error { return nil }

// FuzzLines: whatever comes is a message or an error, and never a panic.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"{}\n", "\n\n{\"a\":1}\n", "{", "[]\n", "null\n", "\x00\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l := NewLines(bytes.NewReader(b), new(sink), time.Now)
		for {
			var v jsonrpc2.Request
			if err := l.ReadObject(&v); err != nil {
				if cause := l.Cause(); !errors.Is(err, io.EOF) && cause == nil {
					t.Errorf("%v has no cause", err)
				}
				return
			}
		}
	})
}

// TestErrors: what an error means arrives.
func TestErrors(t *testing.T) {
	for _, kind := range []error{channel.ErrRefused, channel.ErrUncertain, channel.ErrAuth} {
		if got := Error(ErrorOf(kind)); !errors.Is(got, kind) || got.Error() != kind.Error() {
			t.Errorf("%v arrived as %v", kind, got)
		}
	}
	var limit *channel.RateLimit
	if got := Error(ErrorOf(&channel.RateLimit{After: 3 * time.Second})); !errors.As(got, &limit) || limit.After != 3*time.Second {
		t.Errorf("a limit arrived as %v", got)
	}
	if got := Error(ErrorOf(errors.New("busy"))); got.Error() != "busy" || errors.Is(got, channel.ErrRefused) {
		t.Errorf("a passing failure arrived as %v", got)
	}
	if got := Error(io.ErrUnexpectedEOF); !errors.Is(got, io.ErrUnexpectedEOF) {
		t.Errorf("%v", got)
	}
}

// TestInbound: no part of a message is lost on the way.
func TestInbound(t *testing.T) {
	in := channel.Inbound{
		Channel: "n", Account: "a", Chat: channel.Room, Conversation: "c", Label: "l", Room: "#l",
		Space: "sp", Thread: "t", SenderID: "s", SenderShown: "S", SenderName: "n",
		SenderHandle: "h", SenderIsBot: true, MessageID: "m", Text: "x", Command: "y", Mentioned: true, ReplyToText: "r", QuoteSelected: true,
		Forwarded: channel.Forwarded{From: "f", Text: "w"}, Media: []channel.Media{{MIME: "a/b", Name: "n", URL: "u", Size: 7}}, Album: "b",
		At: time.UnixMilli(1_700_000_000_123), Edited: true,
	}
	got := InboundOf(in).Channel("n", "a")
	if !got.At.Equal(in.At) {
		t.Error(got.At)
	}
	got.At = in.At
	if d := cmp.Diff(in, got); d != "" {
		t.Error(d)
	}
	l := channel.Limits{Text: 1, Unit: channel.Bytes, Lines: 2, Caption: 3, Dialect: channel.HTML, EditPace: time.Second,
		EditWindow: time.Minute, Edits: 4, Typing: time.Second, Files: 5, Reactions: true, Threads: true,
		Manner: channel.Manner{Silent: true, Public: true}}
	if got := LimitsOf(l).Channel(); got != l {
		t.Errorf("%+v", got)
	}
}
