package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/internal/text"
)

const downloadType = "application/vnd.microsoft.teams.file.download.info"

// usualHosts are where files of Teams lie: those below them are meant too.
func usualHosts() []string {
	return []string{"sharepoint.com", "sharepoint-df.com", "onedrive.com", "1drv.com", "teams.microsoft.com", "asm.skype.com", "ams.skype.com",
		"teams.cdn.office.net"}
}

// files reads what came with a message. What cannot be fetched is named in the text.
func (c *Client) files(ev event, in *channel.Inbound) {
	for _, f := range ev.Attachments[:min(len(ev.Attachments), mostFiles)] {
		m := channel.Media{Name: text.Ellipsis(text.Line(f.Name), 200), URL: f.URL}
		switch {
		case f.Type == downloadType:
			var at struct {
				URL  string `json:"downloadUrl"`
				Kind string `json:"fileType"`
			}
			if json.Unmarshal(f.Content, &at) != nil {
				continue
			}
			m.URL = at.URL
			m.MIME = kindOf("." + at.Kind)
		case strings.HasPrefix(f.Type, "image/"):
			kind, _, err := mime.ParseMediaType(f.Type)
			if m.MIME = kind; err != nil || kind == "image/*" {
				m.MIME = "image/png"
			}
			m.Name = cmp.Or(m.Name, "picture."+path.Base(m.MIME))
		case f.Type == "reference" && c.site != "":
			m.MIME = kindOf(path.Ext(m.Name))
			if _, err := c.keeps(f.URL); err != nil {
				in.Text = withoutFile(in.Text, m)
				continue
			}
			m.URL = shareURL(f.URL, in.SenderID)
			in.Media = append(in.Media, m)
			continue
		case f.Type == "reference", strings.HasPrefix(f.Type, "audio/"), strings.HasPrefix(f.Type, "video/"):
			in.Text = strings.TrimSpace(in.Text + "\n[file in SharePoint, which Teams gives no bot here: " + m.Name + "]")
			continue
		default: // the text once more as HTML, cards
			continue
		}
		if _, _, err := c.fetchable(m.URL); err != nil {
			in.Text = withoutFile(in.Text, m)
			continue
		}
		in.Media = append(in.Media, m)
	}
}

// withoutFile is a text with a word about a file that is not fetched from where it is.
func withoutFile(words string, m channel.Media) string {
	return strings.TrimSpace(words + "\n[file at " + hostOf(m.URL) + ", which channels.msteams.mediaAllowHosts does not name: " + m.Name + "]")
}

// kindOf is what is in a file with an ending.
func kindOf(ending string) string {
	kind, _, _ := mime.ParseMediaType(mime.TypeByExtension(ending))
	return cmp.Or(kind, "application/octet-stream")
}

func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return text.Ellipsis(text.Line(u.Host), 100)
	}
	return "no address"
}

// fetchable reads the address of a file. own: it is at the Bot Connector, which wants
// the bot's token.
func (c *Client) fetchable(address string) (u *url.URL, own bool, err error) {
	if u, err = publicAddress(address); err != nil {
		return nil, false, err
	}
	if isServiceHost(u.Host) {
		return u, true, nil
	}
	hosts := c.hosts
	if len(hosts) == 0 {
		hosts = usualHosts()
	}
	// What is asked of Graph is asked with a right of the bot's, so that no message says
	// what.
	if u.Host != graphHost && (slices.Contains(hosts, "*") || below(u.Host, hosts)) {
		return u, false, nil
	}
	return nil, false, refused("the file is at %s, which channels.msteams.mediaAllowHosts does not name", hostOf(address))
}

// publicAddress reads the address of a file, which has a name and no port.
func publicAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || len(address) > 4096 || u.Scheme != "https" || u.User != nil || u.Host == "" || u.Host != strings.ToLower(u.Hostname()) {
		return nil, refused("the file is at no address that can be fetched")
	}
	return u, nil
}

// below reports whether a host is one of some, or below one.
func below(host string, hosts []string) bool {
	return slices.ContainsFunc(hosts, func(one string) bool {
		one = strings.ToLower(one)
		return host == one || strings.HasSuffix(host, "."+one)
	})
}

// Fetch brings a file of a message.
func (c *Client) Fetch(ctx context.Context, m channel.Media) (io.ReadCloser, error) {
	address := m.URL
	if isShare(address) {
		var err error
		if address, err = c.shared(ctx, address); err != nil {
			return nil, err
		}
	}
	u, own, err := c.fetchable(address)
	if err != nil {
		return nil, err
	}
	if !own && slices.Contains(c.hosts, "*") && c.root == "" {
		return c.fetchAnywhere(ctx, u)
	}
	token := ""
	if own {
		if token, err = c.bearerToken(ctx, botScope); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequest(http.MethodGet, c.reach(u), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("User-Agent", userAgent)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return webcall.Download{Network: u.Host, Within: fileTime, Most: c.maxFile,
		Judge: func(a webcall.Answer) error { return noFile(a.Status, u) }}.Open(ctx, c.http, req)
}

func noFile(status int, u *url.URL) error {
	if status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout {
		return fmt.Errorf("%s answered %d for a file", u.Host, status)
	}
	return refused("%s does not give the file (%d %s): the address that Teams told holds for some minutes", u.Host, status,
		http.StatusText(status))
}

// fetchAnywhere brings a file from a host that nobody named: a public one.
func (c *Client) fetchAnywhere(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	most := cmp.Or(c.maxFile, 100<<20)
	page, err := egress.Public(egress.Options{}).Fetch(ctx, egress.Request{URL: u.String(), MaxBytes: most})
	switch {
	case err != nil:
		return nil, fmt.Errorf("fetch a file from %s: %w", u.Host, err)
	case page.Status != http.StatusOK:
		return nil, noFile(page.Status, u)
	case page.Truncated:
		return nil, refused("the file has more than the %d bytes that are allowed, or did not come whole", most)
	}
	return io.NopCloser(bytes.NewReader(page.Body)), nil
}

// replyType marks what somebody answered in the HTML of a message.
const (
	replyType = "http://schema.skype.com/Reply"
	mostQuote = 2000
)

// quoted is the text of the message that somebody answered; "" for none.
func quoted(all []inFile) string {
	for _, f := range all[:min(len(all), mostFiles)] {
		var markup string
		if f.Type != "text/html" || json.Unmarshal(f.Content, &markup) != nil || !strings.Contains(markup, replyType) {
			continue
		}
		if words := quoteIn(markup); words != "" {
			return words
		}
	}
	return ""
}

// quoteIn reads the paragraph of a quote that has the answered words.
func quoteIn(markup string) string {
	z := html.NewTokenizer(strings.NewReader(markup))
	z.SetMaxBuf(256 << 10)
	var b strings.Builder
	within, reading := false, false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return text.Ellipsis(strings.TrimSpace(b.String()), mostQuote)
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			switch {
			case t.Data == "blockquote" && attributeOf(t, "itemtype") == replyType:
				within = true
			case within && t.Data == "p":
				kind := attributeOf(t, "itemprop")
				reading = kind == "copy" || kind == "preview"
			case reading && t.Data == "br":
				b.WriteString("\n")
			}
		case html.EndTagToken:
			switch t := z.Token(); t.Data {
			case "p":
				reading = false
			case "blockquote":
				within, reading = false, false
			}
		case html.TextToken:
			if reading && b.Len() < 4*mostQuote {
				b.WriteString(strings.ToValidUTF8(z.Token().Data, "\uFFFD"))
			}
		}
	}
}

func attributeOf(t html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
