package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// networkHandlers are about other machines.
func (g *Gateway) networkHandlers() map[string]server.Handler {
	return map[string]server.Handler{
		protocol.MethodReachStatus: plain(protocol.MethodReachStatus, g.reachStatus),
	}
}

func (g *Gateway) reachStatus(context.Context, none) (protocol.ReachStatus, error) {
	return g.network.status()
}
