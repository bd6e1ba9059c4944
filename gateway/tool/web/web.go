// Package web holds the tools that read the web: web_fetch, which turns a page
// into Markdown, and web_search, which asks a search service. Everything they
// return is marked as text from outside. They reach the network through
// gateway/egress only and decide nothing about which addresses are allowed.
package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

const userAgent = "Mozilla/5.0 (compatible; Hearth personal assistant)"

// Fetcher gets pages from addresses that somebody else chose; *egress.Client
// is one.
type Fetcher interface {
	Fetch(ctx context.Context, req egress.Request) (egress.Page, error)
}

// Options are what both tools share.
type Options struct {
	Fetcher Fetcher
	Wrap    untrusted.Wrapper
	Now     func() time.Time
	// Secret reports whether a text holds something that must not leave: an
	// address built from a key is how a hijacked model would send it out. nil =
	// nothing is known.
	Secret func(text string) bool
	// Apart reads pages in a process of its own; nil = in this one.
	Apart Apart
}

// leaks says why a text may not be sent out, nil when it may.
func (o *Options) leaks(what, text string) error {
	if o.Secret == nil || !o.Secret(text) {
		return nil
	}
	return fmt.Errorf("the %s holds one of the owner's keys or passwords, so it was not sent; leave it out", what)
}

func readArgs(raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("the arguments are not what this tool takes: %w", err)
	}
	return nil
}

func details(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

// inWords is a failed fetch as the model and the person read it.
func inWords(err error) error {
	var forbidden *egress.ForbiddenError
	if errors.As(err, &forbidden) {
		return fmt.Errorf("%w; only public web sites can be fetched", err)
	}
	return fmt.Errorf("the page could not be fetched: %w; check the address, or try another source", err)
}

// harmless takes out of text from the web what people do not see and what
// steers a terminal or a chat template.
func harmless(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ', r == 0x7f, r >= 0x80 && r < 0xa0: // control characters
			return -1
		// no width, or the other direction
		case r == 0xad, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff:
			return -1
		case r >= 0xe0000 && r <= 0xe0fff, r >= 0xfe00 && r <= 0xfe0e: // tags and selectors, which can carry hidden text
			return -1
		case r == 0xa0:
			return ' '
		}
		return r
	}, s)
	return untrusted.Roles(s)
}
