package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/session"
)

// BreakCommand makes a slash command panic, for tests of what people then see.
// It is called before anything is asked.
func (g *Gateway) BreakCommand(name string) {
	g.does[name] = func(context.Context, string, string) (string, error) { panic("broken for a test") }
}

// PromptOf is the system prompt that the owner's next message would get.
func (g *Gateway) PromptOf(key string) string {
	text, _ := g.runPrompt(session.Asked{Run: session.Run{SessionKey: key, Owner: true}})
	return text
}
