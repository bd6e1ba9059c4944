package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// BreakCommand makes a slash command panic, for tests of what people then see.
// It is called before anything is asked.
func (g *Gateway) BreakCommand(name string) {
	c, _ := g.talk.dispatch.Commands().Get(name)
	c.Do = func(context.Context, string, string) (string, error) { panic("broken for a test") }
	g.talk.dispatch.SetCommands(command.NewSet(append([]command.Command{c}, g.talk.dispatch.Commands().All()...)...))
}

// PromptOf is the system prompt that the owner's next message would get.
func (g *Gateway) PromptOf(key string) string {
	text, _ := g.runs.prompts.Prompt(session.Asked{Run: session.Run{SessionKey: key, Owner: true}})
	return text
}

// Commands are the slash commands.
func (g *Gateway) Commands() []command.Command { return g.talk.dispatch.Commands().All() }

// FeatureNames are those of the list of features.
func (g *Gateway) FeatureNames(ctx context.Context) (names []string) {
	for _, e := range list(ctx, g) {
		names = append(names, e.Name)
	}
	return names
}

// Methods are those of all features.
func (g *Gateway) Methods() []method.Method { return g.base.features.Methods() }

// ToolNames are those of the tools that features offer to models.
func (g *Gateway) ToolNames() (names []string) {
	for _, t := range g.base.features.Tools() {
		names = append(names, t.Spec().Name)
	}
	return names
}
