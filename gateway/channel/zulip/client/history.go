package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// mostRead is how many messages are asked for at once; the server gives 5,000 at most.
const mostRead = 1000

// term narrows what is asked for. The names are those that old servers know too.
type term struct {
	Operator string `json:"operator"`
	Operand  any    `json:"operand"`
}

// narrowed are the terms of a conversation, and of a topic in it.
func narrowed(to channel.Target) ([]term, error) {
	at, err := placeOf(to.Conversation)
	if err != nil {
		return nil, err
	}
	if at.stream == 0 {
		return []term{{"dm", at.people}}, nil
	}
	terms := []term{{"stream", at.stream}}
	if to.Thread != "" {
		terms = append(terms, term{"topic", to.Thread})
	}
	return terms, nil
}

// Read brings what was written in a conversation or topic.
func (c *Client) Read(ctx context.Context, to channel.Target, before string, limit int) ([]channel.Past, error) {
	terms, err := narrowed(to)
	if err != nil {
		return nil, err
	}
	anchor := "newest"
	if before != "" {
		if _, ok := number(before); !ok {
			return nil, refused("%q is no message", cut(before))
		}
		anchor = before
	}
	return c.past(ctx, terms, anchor, limit)
}

// Search lets the server look for words.
func (c *Client) Search(ctx context.Context, to channel.Target, words string, limit int) ([]channel.Past, error) {
	terms, err := narrowed(to)
	if err != nil {
		return nil, err
	}
	return c.past(ctx, append(terms, term{"search", words}), "newest", limit)
}

// past are the newest messages of a narrow before an anchor.
func (c *Client) past(ctx context.Context, terms []term, anchor string, limit int) (out []channel.Past, err error) {
	narrow, err := json.Marshal(terms)
	if err != nil {
		return nil, fmt.Errorf("write a request: %w", err)
	}
	limit = min(max(limit, 1), mostRead)
	var h history
	if err := c.ask(ctx, http.MethodGet, "/messages", url.Values{
		"anchor": {anchor}, "num_before": {strconv.Itoa(limit + 1)}, "num_after": {"0"}, "apply_markdown": {"false"}, "narrow": {string(narrow)},
	}, &h); err != nil {
		return nil, err
	}
	for _, m := range h.Messages {
		if id := strconv.FormatInt(m.ID, 10); id != anchor { // it may be among them
			words, files := c.split(m.Content)
			for _, f := range files {
				words = strings.TrimSpace(words + "\n[file: " + f.Name + "]")
			}
			out = append(out, channel.Past{MessageID: id, SenderID: strconv.FormatInt(m.SenderID, 10), SenderName: m.SenderName, Text: words,
				At: time.Unix(m.At, 0)})
		}
	}
	return out[max(len(out)-limit, 0):], nil
}
