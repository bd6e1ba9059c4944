package gateway

import (
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// problems lists what a person should know about.
func (g *Gateway) problems() []protocol.Problem {
	out := []protocol.Problem{}
	out = append(out, g.features.Problems()...)
	for _, p := range g.config.Problems() {
		out = append(out, protocol.Problem(p))
	}
	out = append(out, g.hardness...)
	return out
}
