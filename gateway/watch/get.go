package watch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/egress"
)

// Fetcher is the way to an address; package egress has some.
type Fetcher interface {
	Fetch(ctx context.Context, req egress.Request) (egress.Page, error)
}

// Validators tell a server what was seen of a page, so that it need not send it
// again.
type Validators struct {
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"modified,omitempty"`
}

// Get gets what is at an address, unless it is as it was (same).
func Get(
	ctx context.Context, by Fetcher, address string, head http.Header, v *Validators, most int64,
) (p egress.Page, same bool, err error) {
	req := egress.Request{URL: address, MaxBytes: most, Header: http.Header{"User-Agent": {"Hearth (watch)"}}}
	for k, values := range head {
		req.Header[k] = values
	}
	if v.ETag != "" {
		req.Header.Set("If-None-Match", v.ETag)
	}
	if v.Modified != "" {
		req.Header.Set("If-Modified-Since", v.Modified)
	}
	p, err = by.Fetch(ctx, req)
	if err != nil {
		return p, false, Unreached(err)
	}
	switch {
	case p.Status == http.StatusNotModified && *v != Validators{}:
		return p, true, nil
	case p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden:
		return p, false, fmt.Errorf("%s does not let us in (status %d)", p.URL.Hostname(), p.Status)
	case p.Status == http.StatusNotFound || p.Status == http.StatusGone:
		return p, false, fmt.Errorf("there is nothing at that address any more: %s answered with status %d", p.URL.Hostname(), p.Status)
	case p.Status < 200 || p.Status > 299:
		return p, false, fmt.Errorf("%s answered with status %d", p.URL.Hostname(), p.Status)
	case p.Truncated:
		return p, false, fmt.Errorf("%s sent more than %d MB, or broke off", p.URL.Hostname(), most>>20)
	}
	*v = Validators{ETag: cut(p.Header.Get("ETag"), maxTitle), Modified: cut(p.Header.Get("Last-Modified"), maxTitle)}
	return p, false, nil
}

// Unreached says why an address was not reached, and what can be done about it.
func Unreached(err error) error {
	var forbidden *egress.ForbiddenError
	if errors.As(err, &forbidden) {
		return fmt.Errorf("%w; where it is on this computer or its network on purpose, say so with --near (near: true)", err)
	}
	return err
}

// Address checks a web address that is to be watched.
func Address(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q is no address of the web that starts with http:// or https://", cut(raw, maxTitle))
	case u.User != nil:
		return nil, errors.New("the address holds a password; leave it out, and name the user and where the password is kept")
	}
	return u, nil
}

// text is what is kept of something that is words.
type text struct {
	Validators
	Text string `json:"text"`
}

// keptText is how much of the words is kept, to say what of them has changed.
const keptText = 24 << 10

// Words are the words that something has now, as what was found there. get is told
// what was seen last.
func Words(kept json.RawMessage, id, title, link string, get func(v *Validators) (words string, same bool, err error)) (Found, error) {
	var was text
	if len(kept) > 0 {
		if err := json.Unmarshal(kept, &was); err != nil {
			return Found{}, fmt.Errorf("read what was seen last: %w", err)
		}
	}
	next := text{Validators: was.Validators}
	words, same, err := get(&next.Validators)
	if err != nil || same {
		return Found{Same: same}, err
	}
	next.Text = cut(words, keptText)
	raw, err := json.Marshal(next)
	if err != nil {
		return Found{}, err
	}
	f := Found{Whole: true, Kept: raw, Items: []Item{{ID: id, Version: Sum(words), Title: title, Link: link}}}
	f.Items[0].Text = cut(cmp.Or(difference(was.Text, next.Text), words), MaxText)
	return f, nil
}

// difference are the lines that came (+) and went (-).
func difference(was, now string) string {
	if was == "" {
		return ""
	}
	lines := func(s string) (list []string, has map[string]bool) {
		list, has = strings.Split(s, "\n"), map[string]bool{}
		for _, l := range list {
			has[l] = true
		}
		return list, has
	}
	old, hadOld := lines(was)
	fresh, hasNow := lines(now)
	var out []string
	for _, l := range fresh {
		if l != "" && !hadOld[l] {
			out = append(out, "+ "+l)
		}
	}
	for _, l := range old {
		if l != "" && !hasNow[l] {
			out = append(out, "- "+l)
		}
	}
	return strings.Join(out, "\n")
}
