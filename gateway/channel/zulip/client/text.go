package client

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel/zulip"
	"github.com/hearth-assistant/hearth/internal/text"
)

// unseen stands between an @ and what follows it, so that nobody is called: it has no
// width. The API has no switch for it.
const unseen = "\u200b"

// defused is a text that calls nobody: neither a person, nor a group, nor all. An @
// calls before stars alone, with or without the line that makes it silent. That is so
// in code too: the server calls out of some blocks that look like code. A text that
// would get too long by it has wide signs instead.
func defused(markdown string) string {
	markdown = strings.Map(func(r rune) rune {
		if r == 0 { // the server refuses it
			return -1
		}
		return r
	}, strings.ToValidUTF8(markdown, "\uFFFD"))
	out := strings.NewReplacer("@*", "@"+unseen+"*", "@_*", "@"+unseen+"_*").Replace(markdown)
	if utf8.RuneCountInString(out) > zulip.MostText {
		out = strings.NewReplacer("@*", "＠*", "@_*", "＠_*").Replace(markdown)
	}
	return out
}

// withoutName is a text without our name before or behind it, "" when it stands at
// neither end.
func withoutName(words string, self user) string {
	words = strings.TrimSpace(words)
	for _, name := range []string{fmt.Sprintf("@**%s|%d**", self.Name, self.ID), "@**" + self.Name + "**"} {
		if rest, ok := strings.CutPrefix(words, name); ok {
			return strings.TrimSpace(strings.TrimLeft(rest, ":, "))
		}
		if rest, ok := strings.CutSuffix(words, name); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// cut shortens what a sentence quotes.
func cut(s string) string { return text.Ellipsis(s, 60) }
