package messaging

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/tool/message"
	"github.com/hearth-assistant/hearth/internal/text"
)

func (p post) read(ctx context.Context, ch channel.Channel, to message.To, a message.Act) (out outcome, err error) {
	reader, ok := channel.AsReader(ch)
	if !ok {
		return out, p.cannot(to, "read what was said before")
	}
	out.past, err = reader.Read(ctx, p.routeTo(to).Target(""), a.Before, a.Limit)
	return out, err
}

// Bounds of a search that the network does not do itself.
const (
	searchPage = 100
	mostLooked = 1000
)

func (p post) search(ctx context.Context, ch channel.Channel, to message.To, a message.Act) (outcome, error) {
	out, can, err := search(ctx, ch, p.routeTo(to).Target(""), a.Words, a.Limit)
	if !can {
		err = p.cannot(to, "read what was said before, and so not search it")
	}
	return out, err
}

// search lets the network look for words, or looks through what it reads back; it can do
// neither everywhere.
func search(ctx context.Context, ch channel.Channel, at channel.Target, words string, limit int) (out outcome, can bool, err error) {
	if searcher, ok := channel.AsSearcher(ch); ok {
		out.past, err = searcher.Search(ctx, at, words, limit)
		return out, true, err
	}
	reader, ok := channel.AsReader(ch)
	if !ok {
		return out, false, nil
	}
	out.lookedThrough = true
	out.past, out.looked, err = lookThrough(ctx, reader, at, words, limit)
	return out, true, err
}

// lookThrough finds the newest messages that have all words, in the order in which they
// were said; looked is how many it read.
func lookThrough(ctx context.Context, reader channel.Reader, at channel.Target, words string, limit int) (
	found []channel.Past, looked int, err error,
) {
	before := ""
	for looked < mostLooked && len(found) < limit {
		page, err := reader.Read(ctx, at, before, searchPage)
		if err != nil {
			return nil, looked, err
		}
		for _, m := range slices.Backward(page) {
			if len(found) < limit && has(m.Text, words) {
				found = append(found, m)
			}
		}
		looked += len(page)
		if len(page) == 0 {
			break
		}
		before = page[0].MessageID
	}
	slices.Reverse(found)
	return found, looked, nil
}

// searched says how far what was found goes, "" for all of the conversation.
func (o outcome) searched() string {
	switch {
	case !o.lookedThrough && len(o.past) == 0:
		return "The network finds nothing with these words there."
	case !o.lookedThrough:
		return ""
	case len(o.past) == 0:
		return fmt.Sprintf("None of the newest %d messages there has these words; older ones were not looked at.", o.looked)
	}
	return fmt.Sprintf("Of the newest %d messages.", o.looked)
}

// found tells a model of a search.
func (o outcome) found() string {
	if len(o.past) == 0 {
		return o.searched()
	}
	words := listed(o.past)
	if o.lookedThrough {
		words += o.searched() + "\n"
	}
	return words
}

// has reports whether a text has all words of another one, in any order.
func has(said, words string) bool {
	said = strings.ToLower(said)
	for w := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(said, w) {
			return false
		}
	}
	return true
}

// listed are messages for the model, one after the other. What people wrote, and call
// themselves, begins no line of its own: it could pass for somebody else's message.
func listed(all []channel.Past) string {
	var b strings.Builder
	for _, m := range all {
		who := m.SenderName
		if who != m.SenderID {
			who = strings.TrimSpace(who + " (" + m.SenderID + ")")
		}
		said := strings.Join(strings.FieldsFunc(m.Text, lineEnd), "\n    ")
		fmt.Fprintf(&b, "[%s, %s, message %s] %s\n", m.At.UTC().Format("2006-01-02 15:04 UTC"), text.Line(who), text.Line(m.MessageID), said)
	}
	return b.String()
}

// lineEnd is what some program shows as the end of a line.
func lineEnd(r rune) bool {
	return r >= '\n' && r <= '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}
