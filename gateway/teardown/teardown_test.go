package teardown_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/teardown"
)

type file func()

func (f file) Close() error { f(); return nil }

// TestOrder: the last is given back first and the log at the very end; one that
// fails is told and keeps no other from ending, nor does a context that is over.
func TestOrder(t *testing.T) {
	var first, second bytes.Buffer
	var order []string
	ends := teardown.New(slog.New(slog.NewTextHandler(&first, nil)), time.Minute)
	ends.Add("the store", func(ctx context.Context) error {
		order = append(order, "store")
		return ctx.Err()
	})
	ends.LogTo(slog.New(slog.NewTextHandler(&second, nil)), file(func() { order = append(order, "log") }))
	ends.Plain(func() { order = append(order, "work") })
	ends.Add("commands", func(context.Context) error {
		order = append(order, "commands")
		return errors.New("one does not end")
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ends.Close(ctx)
	if want := []string{"commands", "work", "store", "log"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
	if said := second.String(); first.Len() > 0 || !strings.Contains(said, "one does not end") || strings.Contains(said, "the store") {
		t.Errorf("before: %q, after: %q", first.String(), said)
	}
}
