package cli

import (
	"context"
	"strings"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

type searchOptions struct {
	session string
	limit   int
}

func newSearch(a *app) *cobra.Command {
	var o searchOptions
	c := &cobra.Command{
		Use: "search WORDS…", Short: "Find messages that hold all of these words, the newest first", Args: cobra.MinimumNArgs(1),
		Long: "Finds messages that hold all of these words, the newest first.\n\n" +
			"Case and accents make no difference, and the last word may be unfinished.\nConversations that were begun anew are searched too.",
		RunE: a.run(func(ctx context.Context, args []string) error { return runSearch(ctx, a, o, args) }),
	}
	c.Flags().StringVar(&o.session, "session", "", "only in this conversation")
	c.Flags().IntVarP(&o.limit, "limit", "n", 20, "at most this many, 200 at most")
	return c
}

func runSearch(ctx context.Context, a *app, o searchOptions, args []string) error {
	if o.limit < 1 || o.limit > 200 {
		return usage("--limit must be between 1 and 200")
	}
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead}})
	if err != nil {
		return err
	}
	defer c.Close()
	var res protocol.SessionsSearch
	p := protocol.SessionsSearchParams{Query: strings.Join(args, " "), Key: o.session, Limit: o.limit}
	if err := c.Call(ctx, protocol.MethodSessionsSearch, p, &res); err != nil {
		return err
	}
	if len(res.Results) == 0 && o.session != "" {
		if err := sessionThere(ctx, c, o.session); err != nil {
			return err
		}
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if res.Indexing {
		_ = a.errs().print(dim("Older messages are still being taken up; search again in a minute for all of them."), "\n")
	}
	if len(res.Results) == 0 {
		return a.out().print("No message holds all of these words.\n")
	}
	for i := range res.Results {
		if err := printHit(a.out(), &res.Results[i]); err != nil {
			return err
		}
	}
	if res.HasMore {
		return a.errs().print(dim("There are more; --limit shows up to 200."), "\n")
	}
	return nil
}

func printHit(out screen, h *protocol.SearchHit) error {
	who := "You"
	if h.Role != protocol.MessageUser {
		who = "Hearth"
	}
	parts := []any{bold(line(h.SessionKey)), dim(" · " + stamp(h.Timestamp) + " · " + who)}
	if t := line(h.Title); t != "" {
		parts = append(parts, dim(" · "+t))
	}
	parts = append(append(parts, "\n  "), marked(h.Snippet, h.Ranges)...)
	return out.print(append(parts, "\n\n")...)
}

// marked makes the ranges of a snippet stand out. They count UTF-16 units;
// what does not fit the text is left as it is.
func marked(s string, ranges [][2]int) (parts []any) {
	units := utf16.Encode([]rune(s))
	at := 0
	text := func(from, to int) string {
		return strings.Join(strings.FieldsFunc(clean(string(utf16.Decode(units[from:to]))), func(r rune) bool { return r == '\n' || r == '\t' }),
			" ")
	}
	for _, r := range ranges {
		if r[0] < at || r[1] <= r[0] || r[1] > len(units) {
			continue
		}
		parts = append(parts, text(at, r[0]), yellow(text(r[0], r[1])))
		at = r[1]
	}
	return append(parts, text(at, len(units)))
}
