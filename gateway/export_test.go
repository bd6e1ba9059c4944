package gateway

import "context"

// BreakCommand makes a slash command panic, for tests of what people then see.
// It is called before anything is asked.
func (g *Gateway) BreakCommand(name string) {
	g.does[name] = func(context.Context, string, string) (string, error) { panic("broken for a test") }
}
