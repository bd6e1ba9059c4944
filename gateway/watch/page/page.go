// Package page watches the words of a web page, or of the part of it that a CSS
// selector names. What a browser would not show does not count.
package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"github.com/hearth-assistant/hearth/gateway/watch"
)

const (
	most        = 3 << 20
	maxSelector = 500
	maxParts    = 200 // of a page that a selector names
)

// Page is a page.
type Page struct {
	url  string
	part cascadia.SelectorGroup // nil: all of it
	name string
	by   watch.Fetcher
}

// New returns the source of a page.
func New(address, selector string, by watch.Fetcher) (*Page, error) {
	u, err := watch.Address(address)
	if err != nil {
		return nil, err
	}
	s := &Page{url: u.String(), by: by, name: strings.TrimSpace(selector)}
	if s.name == "" {
		return s, nil
	}
	if len(s.name) > maxSelector {
		return nil, fmt.Errorf("the selector has %d characters, at most %d are read", len(s.name), maxSelector)
	}
	if s.part, err = cascadia.ParseGroup(s.name); err != nil {
		return nil, fmt.Errorf("%q is no CSS selector: %w", s.name, err)
	}
	return s, nil
}

// Look implements watch.Source.
func (s *Page) Look(ctx context.Context, kept json.RawMessage) (watch.Found, error) {
	return watch.Words(kept, "page", s.url, s.url, func(v *watch.Validators) (string, bool, error) {
		p, same, err := watch.Get(ctx, s.by, s.url, nil, v, most)
		if err != nil || same {
			return "", same, err
		}
		words, err := s.words(p.Body, p.Header.Get("Content-Type"))
		return words, false, err
	})
}

// words are what the page says.
func (s *Page) words(body []byte, contentType string) (string, error) {
	if strings.HasPrefix(contentType, "text/plain") || strings.Contains(contentType, "json") {
		return strings.ToValidUTF8(string(body), "\uFFFD"), nil
	}
	r, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		return "", fmt.Errorf("the page's characters cannot be read: %w", err)
	}
	doc, err := html.Parse(r)
	if err != nil {
		return "", fmt.Errorf("the page cannot be read: %w", err)
	}
	parts := []*html.Node{doc}
	if s.part != nil {
		if parts = cascadia.QueryAll(doc, s.part); len(parts) == 0 {
			return "", fmt.Errorf("the page has no part %q any more", s.name)
		}
	}
	var b strings.Builder
	for _, n := range parts[:min(len(parts), maxParts)] {
		visible(&b, n)
		b.WriteByte('\n')
	}
	return tidy(b.String()), nil
}

// visible writes the words of a part that a person sees.
func visible(b *strings.Builder, top *html.Node) {
	for n := top; n != nil; {
		skip := n.Type == html.ElementNode && hidden(n)
		if n.Type == html.TextNode {
			b.WriteString(strings.NewReplacer("\n", " ", "\r", " ").Replace(n.Data))
		}
		if n.Type == html.ElementNode && block(n.DataAtom) {
			b.WriteByte('\n')
		}
		if n.FirstChild != nil && !skip {
			n = n.FirstChild
			continue
		}
		for n != top && n.NextSibling == nil {
			if n = n.Parent; n == nil {
				return
			}
			if block(n.DataAtom) {
				b.WriteByte('\n')
			}
		}
		if n == top {
			return
		}
		n = n.NextSibling
	}
}

func hidden(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Head, atom.Svg, atom.Iframe:
		return true
	}
	for _, a := range n.Attr {
		if a.Key == "hidden" || a.Key == "aria-hidden" && a.Val == "true" {
			return true
		}
	}
	return false
}

func block(a atom.Atom) bool {
	switch a {
	case atom.A, atom.B, atom.I, atom.Em, atom.Strong, atom.Span, atom.Code, atom.Small, atom.Sub, atom.Sup, atom.U, atom.S, atom.Mark,
		atom.Time, atom.Abbr, atom.Font, 0:
		return false
	}
	return true
}

// tidy leaves the words of each line and no more.
func tidy(s string) string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
