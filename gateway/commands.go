package gateway

import "github.com/hearth-assistant/hearth/gateway/command"

// ownCommands are those that no feature brings.
func (g *Gateway) ownCommands() []command.Command {
	return []command.Command{
		{Spec: command.Spec{Name: "usage", Args: "[allow once|daily n|monthly n]", Description: "Show what this session used and cost, or allow more", Category: "status", Choices: []string{"allow"}}, Do: g.cmdUsage},
	}
}
