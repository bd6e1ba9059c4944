package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Job is the name under which a process of its own knows Convert.
const Job = "page"

// maxText is how much text is made of a page. A model is shown a small part.
const maxText = 4 << 20

// Apart does a job of this package in a process of its own, within limits of
// memory and time: the parsers and the converter ask nobody in between, and a
// page is what a stranger wrote.
type Apart func(ctx context.Context, job string, in []byte) ([]byte, error)

// order is the first line of a job's input; the page's body follows.
type order struct {
	URL  string `json:"url"`
	Type string `json:"type"` // the header Content-Type, which may name an encoding
	Mode string `json:"mode"`
}

// made is what comes of it.
type made struct {
	Title string `json:"title"`
	Text  string `json:"text"`
	Cut   bool   `json:"cut,omitempty"`
}

// Convert makes text of an HTML page; both sides are bytes so that it can be
// done in another process.
func Convert(in []byte) ([]byte, error) {
	line, body, ok := bytes.Cut(in, []byte("\n"))
	var o order
	if !ok || json.Unmarshal(line, &o) != nil {
		return nil, errors.New("the order is damaged")
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	var m made
	m.Title, m.Text, err = page(egress.Page{URL: u, Header: http.Header{"Content-Type": {o.Type}}, Body: body}, o.Mode)
	if err != nil {
		return nil, err
	}
	m.Title, _ = cutChars(m.Title, 1000)
	m.Text, m.Cut = cutBytes(m.Text, maxText)
	return json.Marshal(m)
}

// convert makes text of a page where its work is bounded.
func (f *Fetch) convert(ctx context.Context, p egress.Page, mode string) (m made, err error) {
	line, err := json.Marshal(order{p.URL.String(), p.Header.Get("Content-Type"), mode})
	if err != nil {
		return m, err
	}
	in := append(append(line, '\n'), p.Body...)
	var out []byte
	if f.Apart == nil {
		out, err = Convert(in)
	} else {
		out, err = f.Apart(ctx, Job, in)
	}
	if err != nil {
		return m, fmt.Errorf("the page of %s could not be read: %w", p.URL.Hostname(), err)
	}
	return m, json.Unmarshal(out, &m)
}

// cutBytes keeps at most n bytes, and whole characters.
func cutBytes(s string, n int) (string, bool) {
	first := text.Prefix(s, n)
	return first, len(first) < len(s)
}
