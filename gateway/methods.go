package gateway

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

func isAny(err error, targets ...error) bool {
	for _, t := range targets {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}

func watchSessions(name string, on bool) method.Method {
	return method.Method{Name: name, Answer: func(_ context.Context, c *server.Caller, _ json.RawMessage) (any, error) {
		c.WatchSessions(on)
		return protocol.SubscribeResult{Subscribed: on}, nil
	}}
}

func (g *Gateway) watchMessages(name string, on bool) method.Method {
	return method.Called(name, func(_ context.Context, c *server.Caller, p protocol.SessionKeyParams) (protocol.SubscribeResult, error) {
		key, err := g.agents.Canonical(p.Key, p.AgentID)
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
		if key, err = g.agents.Canonical(p.Key, ""); err != nil {
			return protocol.OKResult{}, err
		}
	}
	c.View(key)
	return protocol.OKResult{OK: true}, nil
}
