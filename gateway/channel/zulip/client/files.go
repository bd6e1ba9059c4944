package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

// Where a server has the files that people sent, and where it shows one for a minute
// to whoever knows the address.
const (
	uploads   = "/user_uploads/"
	temporary = uploads + "temporary/"
)

// mostFiles is how many files of one message are looked at.
const mostFiles = 20

// link finds links that may be to files: a name, and an address without spaces.
var link = regexp.MustCompile(`!?\[([^\[\]\n]*)\]\(([^()\s]+)\)`)

// split takes the files out of a message: of a link to one, its name stays where other
// words stand beside it.
func (c *Client) split(content string) (words string, files []channel.Media) {
	var lines []string
	for line := range strings.SplitSeq(content, "\n") {
		var named, bare strings.Builder
		had, done := len(files), 0
		for _, at := range link.FindAllStringSubmatchIndex(line, -1) {
			name, target := line[at[2]:at[3]], strings.TrimPrefix(line[at[4]:at[5]], c.base)
			if len(files) == mostFiles || !isFile(target) {
				continue
			}
			before := line[done:at[0]]
			named.WriteString(before + name)
			bare.WriteString(before)
			done = at[1]
			files = append(files, channel.Media{Name: cmp.Or(name, path.Base(target)), URL: target})
		}
		if len(files) > had && strings.TrimSpace(bare.String()+line[done:]) == "" {
			continue
		}
		lines = append(lines, named.String()+line[done:])
	}
	words = strings.Join(lines, "\n")
	if len(files) > 0 {
		words = strings.TrimRight(words, " \t\r\n")
	}
	return words, files
}

// isFile reports whether a text is the path of a file on the server, and of nothing
// else there.
func isFile(at string) bool {
	rest, ok := strings.CutPrefix(at, uploads)
	if !ok || len(at) > 1000 || strings.HasPrefix(at, temporary) || strings.Count(rest, "/") < 2 || strings.ContainsAny(at, `\?#`) ||
		strings.ContainsFunc(at, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return false
	}
	clear, err := url.PathUnescape(at)
	return err == nil && path.Clean(clear) == clear && !strings.ContainsFunc(clear, unicode.IsControl)
}

// described asks the server for the size and kind of files. One that it does not show
// is told of all the same: fetching it says why.
func (c *Client) described(ctx context.Context, files []channel.Media) ([]channel.Media, error) {
	for i := range files {
		files[i].MIME = mime.TypeByExtension(path.Ext(files[i].Name))
		resp, err := c.head(ctx, files[i].URL)
		var limit *channel.RateLimit
		if err != nil && (ctx.Err() != nil || errors.Is(err, channel.ErrAuth) || errors.As(err, &limit)) {
			return nil, err
		}
		if err != nil {
			c.log.Warn("the size of a file is not known", "err", err)
			continue
		}
		files[i].Size = max(resp.ContentLength, 0)
		files[i].MIME = cmp.Or(resp.Header.Get("Content-Type"), files[i].MIME)
	}
	return files, nil
}

// located is the request for a file. The server is asked where it is at present.
func (c *Client) located(ctx context.Context, at string) (*http.Request, error) {
	if !isFile(at) {
		return nil, refused("%q is no file", cut(at))
	}
	var said struct {
		URL string `json:"url"`
	}
	if err := c.ask(ctx, http.MethodGet, at, nil, &said); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(said.URL, temporary) {
		return nil, errors.New("Zulip's answer does not say where the file is")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+said.URL, nil)
	if err != nil {
		return nil, fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("User-Agent", program)
	return req, nil
}

// head is what the server says of a file before it gives it.
func (c *Client) head(ctx context.Context, at string) (*http.Response, error) {
	req, err := c.located(ctx, at)
	if err != nil {
		return nil, err
	}
	resp, err := webcall.Open(ctx, c.http, req)
	if err != nil {
		return nil, webcall.Again(err, "Zulip", "a file")
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, judge(webcall.Answer{Status: resp.StatusCode, Header: resp.Header}, "a file", false)
	}
	return resp, nil
}

// Fetch brings a file of a message.
func (c *Client) Fetch(ctx context.Context, m channel.Media) (io.ReadCloser, error) {
	req, err := c.located(ctx, m.URL)
	if err != nil {
		return nil, err
	}
	return webcall.Download{Network: "Zulip", Within: fileTime, Most: c.maxFile, Judge: func(a webcall.Answer) error {
		return judge(a, "a file", false)
	}}.Open(ctx, c.http, req)
}

// upload brings a file to the server, where nobody sees it before its message, and
// returns the link to it.
func (c *Client) upload(ctx context.Context, m channel.Media) (markdown string, err error) {
	if c.openFile == nil {
		return "", refused("no file may leave here")
	}
	f, err := c.openFile(m.URL)
	if err != nil {
		return "", fmt.Errorf("open the file that is to be sent: %w", err)
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("open the file that is to be sent: %w", err)
	}
	if most := c.Limits().Files; st.Size() > most {
		return "", refused("the file has %d bytes, and at most %d are sent", st.Size(), most)
	}
	if st.Size() == 0 {
		return "", refused("the file is empty")
	}
	name := linkName(m.Name)
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	if _, err := form.CreateFormFile("filename", name); err != nil {
		return "", fmt.Errorf("write a request: %w", err)
	}
	begin := head.Len()
	if err := form.Close(); err != nil {
		return "", fmt.Errorf("write a request: %w", err)
	}
	before, behind := head.Bytes()[:begin], head.Bytes()[begin:]
	var made struct {
		URL string `json:"url"`
		URI string `json:"uri"` // what servers before 9.0 call it
	}
	if err := c.do(ctx, request{
		method: http.MethodPost, path: "/user_uploads", body: io.MultiReader(bytes.NewReader(before), f, bytes.NewReader(behind)),
		size: int64(head.Len()) + st.Size(), kind: form.FormDataContentType(), within: fileTime,
	}, &made); err != nil {
		return "", err
	}
	at := cmp.Or(made.URL, made.URI)
	if !isFile(at) {
		return "", errors.New("Zulip's answer names no file")
	}
	return "[" + name + "](" + strings.NewReplacer("(", "%28", ")", "%29").Replace(at) + ")", nil
}

// mostName is how long the name of a file is.
const mostName = 100

// linkName is the name of a file as a link shows it: a line without signs that end or
// begin something.
func linkName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return -1
		case strings.ContainsRune(`[]\"`, r):
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if ext := path.Ext(name); len([]rune(name)) > mostName && len(ext) < mostName/2 {
		name = string([]rune(name)[:mostName-len([]rune(ext))]) + ext
	}
	return cmp.Or(strings.TrimSpace(name), "file")
}
