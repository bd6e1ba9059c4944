package cli

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/hearth-assistant/hearth/gateway"
)

// lifeline is the standard input that ends with the program which started this
// one, and the last word that came by it.
type lifeline struct {
	parent context.Context

	mu    sync.Mutex
	ended bool
	word  []byte
}

// hold returns a context that ends with the input.
func hold(parent context.Context, in io.Reader) (context.Context, *lifeline, context.CancelFunc) {
	ctx, cut := context.WithCancel(parent)
	l := &lifeline{parent: parent}
	go func() { // ends with the input or with the process
		word, _ := io.ReadAll(io.LimitReader(in, 64))
		_, _ = io.Copy(io.Discard, in)
		l.mu.Lock()
		l.ended, l.word = true, bytes.TrimSpace(word)
		l.mu.Unlock()
		cut()
	}()
	return ctx, l, cut
}

// farewell is what the other program said at its end. A signal ends both of them,
// as Ctrl-C does in their terminal.
func (l *lifeline) farewell() gateway.Farewell {
	if l == nil {
		return gateway.FarewellNone
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch word := gateway.Farewell(l.word); {
	case word == gateway.FarewellQuit || word == gateway.FarewellAgain:
		return word
	case !l.ended && l.parent.Err() != nil:
		return gateway.FarewellQuit
	}
	return gateway.FarewellNone
}
