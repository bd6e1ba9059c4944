package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newMCPResources(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "resources NAME", Short: "List what a server has to read", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			var res protocol.MCPResources
			if err := a.call(ctx, protocol.ScopeWrite, protocol.MethodMCPResources, protocol.MCPServerParams{ID: args[0]}, &res); err != nil {
				return err
			}
			if a.asJSON {
				return a.out().json(res)
			}
			if len(res.Resources) == 0 {
				return a.out().print("It has nothing to read.\n")
			}
			var list [][]string
			for _, r := range res.Resources {
				list = append(list, []string{line(r.URI), text.Ellipsis(line(r.Name), 40), text.Ellipsis(line(r.Description), 60)})
			}
			if err := a.out().table([]string{"RESOURCE", "NAME", "WHAT THE SERVER SAYS OF IT"}, list); err != nil || !res.More {
				return err
			}
			return a.out().print("The server has more than these; `hearth mcp read` reads those too.\n")
		}),
	}
}

func newMCPRead(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "read NAME RESOURCE", Short: "Show a resource of a server", Args: cobra.ExactArgs(2),
		RunE: a.run(func(ctx context.Context, args []string) error {
			var res protocol.MCPText
			if err := a.call(ctx, protocol.ScopeWrite, protocol.MethodMCPRead, protocol.MCPReadParams{ID: args[0], URI: args[1]}, &res); err != nil {
				return err
			}
			return a.showWords(res)
		}),
	}
}

func newMCPPrompts(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "prompts NAME", Short: "List the prompts that a server has ready", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			var res protocol.MCPPrompts
			if err := a.call(ctx, protocol.ScopeWrite, protocol.MethodMCPPrompts, protocol.MCPServerParams{ID: args[0]}, &res); err != nil {
				return err
			}
			if a.asJSON {
				return a.out().json(res)
			}
			if len(res.Prompts) == 0 {
				return a.out().print("It has no prompts.\n")
			}
			var list [][]string
			for _, p := range res.Prompts {
				var words []string
				for _, w := range p.Arguments {
					word := line(w.Name)
					if !w.Required {
						word = "[" + word + "]"
					}
					words = append(words, word)
				}
				list = append(list, []string{line(p.Name), strings.Join(words, " "), text.Ellipsis(line(p.Description), 60)})
			}
			return a.out().table([]string{"PROMPT", "FILLED IN WITH", "WHAT THE SERVER SAYS OF IT"}, list)
		}),
	}
}

func newMCPPrompt(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "prompt NAME PROMPT [WORD=VALUE…]", Short: "Fill in a prompt of a server and show it", Args: cobra.MinimumNArgs(2),
		Example: "  hearth mcp prompt tracker review pr=12",
		RunE: a.run(func(ctx context.Context, args []string) error {
			p := protocol.MCPPromptParams{ID: args[0], Name: args[1], Arguments: map[string]string{}}
			for _, pair := range args[2:] {
				name, value, ok := strings.Cut(pair, "=")
				if !ok || name == "" {
					return usage("%q is no WORD=VALUE", pair)
				}
				p.Arguments[name] = value
			}
			var res protocol.MCPText
			if err := a.call(ctx, protocol.ScopeWrite, protocol.MethodMCPPrompt, p, &res); err != nil {
				return err
			}
			return a.showWords(res)
		}),
	}
}

func (a *app) showWords(res protocol.MCPText) error {
	if a.asJSON {
		return a.out().json(res)
	}
	return a.out().print(strings.TrimRight(res.Text, "\n"), "\n")
}
