package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// method is one of the wire's methods, and what answers it.
type method struct {
	name   string
	answer server.Handler
}

// plain is a method of typed parameters.
func plain[P, R any](name string, fn func(context.Context, P) (R, error)) method {
	return method{name, func(ctx context.Context, _ *server.Caller, raw json.RawMessage) (any, error) {
		p, perr := protocol.DecodeParams[P](name, raw)
		if perr != nil {
			return nil, perr
		}
		res, err := fn(ctx, p)
		if err != nil {
			return nil, forClients(name, err)
		}
		return res, nil
	}}
}

// called is plain for methods that need to know who calls.
func called[P, R any](name string, fn func(context.Context, *server.Caller, P) (R, error)) method {
	return method{name, func(ctx context.Context, c *server.Caller, raw json.RawMessage) (any, error) {
		return plain(name, func(ctx context.Context, p P) (R, error) { return fn(ctx, c, p) }).answer(ctx, c, raw)
	}}
}

type none struct{}

func isAny(err error, targets ...error) bool {
	for _, t := range targets {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}

func watchSessions(name string, on bool) method {
	return method{name, func(_ context.Context, c *server.Caller, _ json.RawMessage) (any, error) {
		c.WatchSessions(on)
		return protocol.SubscribeResult{Subscribed: on}, nil
	}}
}

func (g *Gateway) watchMessages(name string, on bool) method {
	return called(name, func(_ context.Context, c *server.Caller, p protocol.SessionKeyParams) (protocol.SubscribeResult, error) {
		key, err := g.canonical(p.Key, p.AgentID)
		if err != nil {
			return protocol.SubscribeResult{}, err
		}
		c.WatchMessages(key, on)
		return protocol.SubscribeResult{Subscribed: on, Key: key}, nil
	})
}

// view notes which chat the caller's person looks at, so that nobody is told of
// an answer they have before their eyes.
func (g *Gateway) view(_ context.Context, c *server.Caller, p protocol.ViewParams) (protocol.OKResult, error) {
	key := ""
	if p.Key != "" {
		var err error
		if key, err = g.canonical(p.Key, ""); err != nil {
			return protocol.OKResult{}, err
		}
	}
	c.View(key)
	return protocol.OKResult{OK: true}, nil
}

// forClients gives errors of the rooms their form on the wire.
func forClients(method string, err error) error {
	var pe *protocol.Error
	switch {
	case errors.As(err, &pe):
		return pe
	case errors.Is(err, session.ErrBadKey):
		return protocol.InvalidParams(method, "%v", err)
	case errors.Is(err, session.ErrNotFound):
		return protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	case errors.Is(err, session.ErrConflict):
		return protocol.Invalid("%v. Use a new key for a new message.", err).With("reason", "chat-request-conflict")
	case errors.Is(err, session.ErrQueueFull):
		return protocol.Unavailable(0, "%v", err).With("code", "QUEUE_FULL")
	case errors.Is(err, session.ErrClosed), errors.Is(err, store.ErrClosed):
		return protocol.Unavailable(1000, "Hearth is stopping and takes no more messages. Send it again after the restart.")
	case errors.Is(err, secret.ErrNotFound):
		return protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	case errors.Is(err, secret.ErrLocked):
		return protocol.Invalid("%v", err).With("code", "SECRETS_LOCKED")
	case errors.Is(err, secret.ErrUnavailable):
		return protocol.Invalid("%v", err).With("code", "SECRETS_UNAVAILABLE")
	case isSecretInput(err):
		return protocol.Invalid("%v", err)
	case errors.Is(err, store.ErrFull):
		return protocol.Unavailable(5000, "The disk is full, so nothing was changed or accepted. Make some room and try again; reading and stopping still work.").With("code", "DISK_FULL")
	case errors.Is(err, store.ErrGone):
		return protocol.Unavailable(5000, "Nothing was changed or accepted: %s", goneWords(err)).With("code", "STORE_GONE")
	case errors.Is(err, store.ErrFailed):
		return protocol.Unavailable(5000, "Hearth's store could not be written, so nothing was accepted. Restart Hearth and try again.").With("code", "STORE_FAILED")
	}
	return configError(err)
}

// configError gives the settings' errors their form on the wire.
func configError(err error) error {
	var broken *config.BrokenError
	var invalid *config.InvalidError
	var path *config.PathError
	switch {
	case errors.Is(err, config.ErrStale):
		return protocol.Invalid("%v", err).With("code", "CONFIG_STALE")
	case errors.Is(err, config.ErrRedacted), errors.Is(err, config.ErrBusy),
		errors.As(err, &broken), errors.As(err, &invalid), errors.As(err, &path):
		return protocol.Invalid("%v", err)
	}
	return err
}

// millis is a time on the wire.
func millis(ms int64) time.Time { return time.UnixMilli(ms) }
