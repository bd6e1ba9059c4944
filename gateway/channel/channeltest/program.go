package channeltest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
	"github.com/hearth-assistant/hearth/gateway/channel/program/programtest"
	"github.com/hearth-assistant/hearth/gateway/channel/program/serve"
)

// RunAsProgram tries the whole contract over the protocol of programs: the channel
// that setup makes is served at one end, and the gateway's bridge is tried.
func RunAsProgram(t *testing.T, setup func(t *testing.T) *Setup) {
	t.Helper()
	run(t, "over the protocol of programs", func(t *testing.T) *Setup { return asProgram(t, setup(t)) })
}

func asProgram(t *testing.T, s *Setup) *Setup {
	t.Helper()
	inner, begun := s.Channel, false
	limits := inner.Limits()
	p := serve.Program{
		Name: "test", Version: "1", Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		New: func(_ string, a channel.Account) (channel.Channel, error) {
			if s.Files != nil {
				s.Files.Through(a.OpenFile)
			}
			if begun && s.Again != nil {
				inner = s.Again()
			}
			begun = true
			return inner, nil
		},
	}
	o := program.Options{
		Network: inner.ID(), Argv: []string{"test"}, Limits: limits,
		Account: channel.Account{ID: inner.Account(), MaxFile: limits.Files, Now: time.Now, Logger: slog.New(slog.DiscardHandler)},
	}
	o.Launch = programtest.Launch(t, func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) {
		if err := p.Serve(ctx, in, out); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the program: %v", err)
		}
	})
	if s.Files != nil {
		o.OpenFile = s.Files.OpenLocal
	}
	bridge, err := program.New(o)
	if err != nil {
		t.Fatal(err)
	}
	out := *s
	out.Channel, out.Connected, out.Again = bridge, true, nil
	out.Cannot = maps.Clone(s.Cannot)
	delete(out.Cannot, "SendWithoutConnection") // there is one now
	return &out
}
