// Package method makes the wire's methods out of typed functions. It owns the
// decoding of parameters and the form that errors of the kernel have on the wire
// (see ForClients); it does not own the table of methods and their scopes
// (protocol.Methods) nor how frames travel (package server).
package method

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// Method is one of the wire's methods, and what answers it.
type Method struct {
	Name   string // a row of protocol.Methods
	Answer server.Handler
}

// None are the parameters of a method that has none.
type None struct{}

// Plain is a method of typed parameters. P is decoded strictly; an error of fn
// gets its form by ForClients.
func Plain[P, R any](name string, fn func(context.Context, P) (R, error)) Method {
	return Called(name, func(ctx context.Context, _ *server.Caller, p P) (R, error) { return fn(ctx, p) })
}

// Called is Plain for methods that need to know who calls.
func Called[P, R any](name string, fn func(context.Context, *server.Caller, P) (R, error)) Method {
	return Method{name, func(ctx context.Context, c *server.Caller, raw json.RawMessage) (any, error) {
		p, perr := protocol.DecodeParams[P](name, raw)
		if perr != nil {
			return nil, perr
		}
		res, err := fn(ctx, c, p)
		if err != nil {
			return nil, ForClients(name, err)
		}
		return res, nil
	}}
}

// Deciding is Plain for methods whose words may hold a command that decides
// about an approval: the caller's right to do so goes along in the context.
func Deciding[P, R any](name string, fn func(context.Context, P) (R, error)) Method {
	return Called(name, func(ctx context.Context, c *server.Caller, p P) (R, error) {
		if protocol.Allows(c.Scopes, protocol.ScopeApprovals) {
			d := DeciderOf(c)
			d.Settings = protocol.Allows(c.Scopes, protocol.ScopeAdmin)
			ctx = approval.WithDecider(ctx, d)
		}
		return fn(ctx, p)
	})
}

// DeciderOf tells who asks from who decides. All that come with the gateway's own
// token and no key are one party: a second connection makes nobody another
// person. The owner's own programs, where somebody types or clicks, are told apart.
func DeciderOf(c *server.Caller) approval.Decider {
	id := c.DeviceID
	switch {
	case id != "":
	case c.Client.ID == "cli" || c.Client.ID == "hearth-tray":
		id = "conn:" + c.ConnID
	default:
		id = "token"
	}
	return approval.Decider{Name: CallerName(c), ID: id}
}

// CallerName is who calls, for people and the audit log.
func CallerName(c *server.Caller) string {
	name := cmp.Or(c.Client.DisplayName, c.Client.ID, "a client")
	if c.DeviceID != "" {
		name += " (" + approval.ShortID(c.DeviceID) + ")"
	}
	return name
}

// Time is a moment as the wire has it, in milliseconds since 1970.
func Time(ms int64) time.Time { return time.UnixMilli(ms) }

// Duration is a length of time as the wire has it, in milliseconds.
func Duration(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// Changed refuses an act because what it was meant for has changed, in the words
// that OpenClaw's clients know.
func Changed(format string, a ...any) error {
	return protocol.Invalid("%s", fmt.Sprintf(format, a...)).With("reason", "session-changed")
}

// AnySet reports whether one of the values of a request is there.
func AnySet(values ...any) bool {
	return slices.ContainsFunc(values, func(v any) bool { return v != nil })
}
