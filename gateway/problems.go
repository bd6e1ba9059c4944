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
	for _, name := range g.skills.Waiting() {
		out = append(out, protocol.Problem{Code: "SKILL", Message: "The skill “" + name + "” is new or was changed, and a command of the assistant's may have done that. It is not used until you have looked at it: in the settings, “Skills & MCP”, or with `hearth skills trust " + name + "`."})
	}
	out = append(out, g.ownerlessProblem()...)
	return append(out, g.channels.Problems()...)
}
