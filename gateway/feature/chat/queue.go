package chat

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

func (f *feature) editQueued(ctx context.Context, p protocol.QueueEditParams) (protocol.OKResult, error) {
	turn, err := f.o.Dispatch.Turn(protocol.MethodQueueEdit, p.Key, "", p.Message, p.RunID, 0)
	if err != nil {
		return protocol.OKResult{}, err
	}
	err = f.o.Sessions.EditQueued(ctx, f.o.Dispatch.Hinted(turn))
	if errors.Is(err, session.ErrNotFound) {
		return protocol.OKResult{}, protocol.Invalid("This message does not wait any more, so it was not changed. Send a new one.").With("code",
			"NOT_WAITING")
	}
	return protocol.OKResult{OK: err == nil}, err
}

// cmdQueue shows or changes how the session queues:
// /queue collect debounce:2s cap:25 drop:old.
func (f *feature) cmdQueue(ctx context.Context, key, args string) (string, error) {
	if args == "" {
		p, _ := f.o.Sessions.QueueOf(key)
		return fmt.Sprintf("Queue: **%s**, debounce %v, cap %d, drop %s. Modes: steer, followup, collect, interrupt.", p.Mode, p.Debounce, p.Cap,
			p.Drop), nil
	}
	if args == "default" || args == "reset" {
		_, err := f.o.Sessions.SetQueue(ctx, key, nil)
		return "This session queues like the others again.", err
	}
	o, err := parseQueue(args)
	if err != nil {
		return "Not changed: " + err.Error() + ".", nil
	}
	if _, err := f.o.Sessions.SetQueue(ctx, key, &o); err != nil {
		return "", err
	}
	p, _ := f.o.Sessions.QueueOf(key)
	return fmt.Sprintf("Queue: **%s**, debounce %v, cap %d, drop %s.", p.Mode, p.Debounce, p.Cap, p.Drop), nil
}

func parseQueue(args string) (o session.QueueOverride, err error) {
	for _, word := range strings.Fields(strings.ToLower(args)) {
		name, value, isOption := strings.Cut(word, ":")
		switch {
		case !isOption:
			o.Mode = session.Mode(word)
		case name == "debounce":
			d, perr := time.ParseDuration(value)
			if perr != nil {
				ms, nerr := strconv.Atoi(value)
				if nerr != nil {
					return o, fmt.Errorf("debounce takes a time such as 500ms or 2s, not %q", value)
				}
				d = time.Duration(ms) * time.Millisecond
			}
			o.DebounceMs = d.Milliseconds()
		case name == "cap":
			if o.Cap, err = strconv.Atoi(value); err != nil {
				return o, fmt.Errorf("cap takes a number, not %q", value)
			}
		case name == "drop":
			o.Drop = session.Drop(value)
		default:
			return o, fmt.Errorf("%q is not an option of the queue; use debounce, cap or drop", name)
		}
	}
	return o, o.Check()
}
