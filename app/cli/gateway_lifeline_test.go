package cli

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway"
)

// Who quits Hearth says so before the line ends; a program that was killed says
// nothing, and a signal ends both.
func TestLifelineSaysWhy(t *testing.T) {
	for word, want := range map[string]gateway.Farewell{
		"quit\n": gateway.FarewellQuit, "again\n": gateway.FarewellAgain, "": gateway.FarewellNone, "what\n": gateway.FarewellNone,
		strings.Repeat("quit", 100): gateway.FarewellNone,
	} {
		ctx, held, stop := hold(t.Context(), strings.NewReader(word))
		<-ctx.Done()
		if got := held.farewell(); got != want {
			t.Errorf("%q: %q", word, got)
		}
		stop()
	}
	parent, signal := context.WithCancel(t.Context())
	in, out := io.Pipe()
	defer out.Close()
	ctx, held, stop := hold(parent, in)
	defer stop()
	if held.farewell() != gateway.FarewellNone {
		t.Error("it has not ended")
	}
	signal()
	<-ctx.Done()
	if got := held.farewell(); got != gateway.FarewellQuit {
		t.Errorf("a signal: %q", got)
	}
	if (*lifeline)(nil).farewell() != gateway.FarewellNone {
		t.Error("no line")
	}
}
