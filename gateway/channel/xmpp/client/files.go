package client

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/xmpp"
	"github.com/hearth-assistant/hearth/gateway/egress"
)

// mostServices is how many services of a server are asked whether they take files.
const mostServices = 30

// store is the service that takes files (XEP-0363).
type store struct {
	address string
	most    int64
}

// askUpload looks for the service that takes files; without one none are sent.
func (c *Client) askUpload(ctx context.Context, l *link) {
	s, err := c.findStore(ctx, l)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.log.Info("the server takes no files", "why", err)
		return
	}
	l.store = s
	if s.most > 0 {
		c.limits.Files = min(c.limits.Files, s.most)
	}
}

func (c *Client) findStore(ctx context.Context, l *link) (store, error) {
	got, err := l.ask(ctx, &iq{To: c.domain, Type: "get", Items: &items{}})
	if err != nil {
		return store{}, err
	}
	names := []string{c.domain}
	if got.Items != nil {
		for _, it := range got.Items.Items {
			names = append(names, it.JID)
		}
	}
	for _, name := range names[:min(len(names), mostServices)] {
		got, err := l.ask(ctx, &iq{To: name, Type: "get", Info: &info{}})
		if err != nil || got.Info == nil || !got.Info.has(nsUpload) {
			continue
		}
		s := store{address: name}
		for _, f := range got.Info.Forms {
			for _, field := range f.Fields {
				if field.Var == "max-file-size" && len(field.Values) == 1 {
					s.most, _ = strconv.ParseInt(field.Values[0], 10, 64)
				}
			}
		}
		return s, nil
	}
	return store{}, fmt.Errorf("none of its %d services does", len(names))
}

// uploadHeaders are all that a server may have us send with a file.
var uploadHeaders = []string{"Authorization", "Cookie", "Expires"}

// upload gives a file to the server and returns where people fetch it.
func (c *Client) upload(ctx context.Context, l *link, m channel.Media) (string, error) {
	c.mu.Lock()
	s := l.store
	c.mu.Unlock()
	if s.address == "" {
		return "", fmt.Errorf("%w: the server %s takes no files", channel.ErrRefused, c.domain)
	}
	data, err := c.open(m, cmp.Or(s.most, xmpp.Limits.Files))
	if err != nil {
		return "", err
	}
	name := cmp.Or(line(path.Base(m.Name), 120), "file")
	got, err := l.ask(ctx, &iq{To: s.address, Type: "get", Ask: &slotAsked{Name: name, Size: int64(len(data)), MIME: m.MIME}})
	if err != nil {
		return "", fmt.Errorf("ask for a place for the file %s: %w", name, err)
	}
	if got.Slot == nil || !webAddress(got.Slot.Get.URL) || !webAddress(got.Slot.Put.URL) {
		return "", fmt.Errorf("the server gave no place for the file %s", name)
	}
	c.trust(l, got.Slot)
	header := http.Header{}
	for _, h := range got.Slot.Put.Headers {
		if slices.Contains(uploadHeaders, http.CanonicalHeaderKey(h.Name)) && len(h.Value) < 8<<10 {
			header.Set(h.Name, strings.NewReplacer("\r", "", "\n", "").Replace(h.Value))
		}
	}
	if m.MIME != "" {
		header.Set("Content-Type", m.MIME)
	}
	web, err := c.web(got.Slot.Put.URL)
	if err != nil {
		return "", err
	}
	page, err := web.Fetch(ctx, egress.Request{Method: http.MethodPut, URL: got.Slot.Put.URL, Header: header, Body: data, MaxBytes: 4096})
	if err != nil {
		return "", fmt.Errorf("send the file %s to the server: %w", name, err)
	}
	if page.Status != http.StatusOK && page.Status != http.StatusCreated {
		return "", fmt.Errorf("the server did not take the file %s: it answered %d", name, page.Status)
	}
	return got.Slot.Get.URL, nil
}

// open reads a file that is to be sent.
func (c *Client) open(m channel.Media, most int64) ([]byte, error) {
	if c.openFile == nil {
		return nil, fmt.Errorf("%w: no file may leave here", channel.ErrRefused)
	}
	f, err := c.openFile(m.URL)
	if err != nil {
		return nil, fmt.Errorf("open the file that is to be sent: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := channel.ReadFile(f, most)
	if err != nil {
		return nil, fmt.Errorf("read the file that is to be sent: %w", err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%w: %s has more than the %d bytes that the server takes", channel.ErrRefused, m.Name, most)
	}
	return data, nil
}

// trust notes where the server keeps files: when the server itself is in our network,
// they may be there too.
func (c *Client) trust(l *link, s *slot) {
	if !l.near {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, address := range []string{s.Put.URL, s.Get.URL} {
		if u, err := url.Parse(address); err == nil && len(c.origins) < 16 {
			c.origins[u.Scheme+"://"+u.Host] = true
		}
	}
}

// web is what fetches from an address: public ones, and the own server's files where
// that is in our network.
func (c *Client) web(address string) (*egress.Client, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%w: the file is not at an address that can be fetched", channel.ErrRefused)
	}
	origin := u.Scheme + "://" + u.Host
	c.mu.Lock()
	own := c.origins[origin]
	c.mu.Unlock()
	if own {
		return egress.Only(origin)
	}
	return egress.Public(egress.Options{}), nil
}

// learn asks a server in our network for a place for a file that is never sent, and
// so where it keeps those that others sent.
func (c *Client) learn(ctx context.Context) error {
	l, err := c.current()
	if err != nil {
		return err
	}
	c.mu.Lock()
	s, known := l.store, len(c.origins) > 0
	c.mu.Unlock()
	if !l.near || known || s.address == "" {
		return nil
	}
	got, err := l.ask(ctx, &iq{To: s.address, Type: "get", Ask: &slotAsked{Name: "nothing.txt", Size: 1}})
	if err == nil && got.Slot != nil {
		c.trust(l, got.Slot)
	}
	return nil // without it only public addresses are fetched from
}

// Fetch implements channel.Fetcher.
func (c *Client) Fetch(ctx context.Context, m channel.Media) (io.ReadCloser, error) {
	if !webAddress(m.URL) {
		return nil, fmt.Errorf("%w: the file is not at an address that can be fetched", channel.ErrRefused)
	}
	most := cmp.Or(c.maxFile, 100<<20)
	if err := c.learn(ctx); err != nil {
		return nil, err
	}
	web, err := c.web(m.URL)
	if err != nil {
		return nil, err
	}
	page, err := web.Fetch(ctx, egress.Request{URL: m.URL, MaxBytes: most})
	if err != nil {
		return nil, fmt.Errorf("fetch the file %s: %w", m.Name, err)
	}
	if page.Status != http.StatusOK {
		return nil, fmt.Errorf("the file %s cannot be fetched: the server answered %d", m.Name, page.Status)
	}
	if page.Truncated {
		return nil, fmt.Errorf("%w: %s has more than the %d bytes that are allowed, or did not come whole", channel.ErrRefused, m.Name, most)
	}
	return io.NopCloser(bytes.NewReader(page.Body)), nil
}
