package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// fileScheme marks Media.URL of received files. The address with which a file
// is fetched holds the token, so it is made only inside Fetch.
const fileScheme = "telegram-file:"

const maxPhoto = 10 << 20

// sendMethod says how a file is shown when it is sent in a manner.
func sendMethod(m *channel.Media, how channel.Manner) (method, field string) {
	switch {
	case how.Document:
		return "sendDocument", "document"
	case how.Voice && spoken(m.MIME):
		return "sendVoice", "voice"
	case how.Animation && m.MIME == "video/mp4":
		return "sendAnimation", "animation"
	}
	switch m.MIME {
	case "image/jpeg", "image/png", "image/webp":
		if m.Size <= maxPhoto {
			return "sendPhoto", "photo"
		}
	case "image/gif":
		return "sendAnimation", "animation"
	case "audio/ogg", "audio/opus":
		return "sendVoice", "voice"
	case "audio/mpeg", "audio/mp4", "audio/m4a", "audio/x-m4a":
		return "sendAudio", "audio"
	case "video/mp4":
		return "sendVideo", "video"
	}
	return "sendDocument", "document"
}

// spoken reports whether Telegram shows sounds of a kind as voice notes: Opus, MP3 and M4A.
func spoken(mime string) bool {
	switch mime {
	case "audio/ogg", "audio/opus", "audio/mpeg", "audio/mp4", "audio/m4a", "audio/x-m4a":
		return true
	}
	return false
}

func (c *Channel) sendMedia(ctx context.Context, to place, i int, p part) (int64, error) {
	if len(p.media) > 1 {
		return c.sendAlbum(ctx, to, i, p)
	}
	m := &p.media[0]
	method, field := sendMethod(m, p.how)
	form := mediaForm(to, i, p.how)
	captioned := func(html bool) [][2]string {
		switch {
		case p.text.plain == "":
			return form
		case html:
			return append(form[:len(form):len(form)], [2]string{"caption", p.text.html}, [2]string{"parse_mode", "HTML"})
		}
		return append(form[:len(form):len(form)], [2]string{"caption", p.text.plain})
	}
	id, err := c.postMedia(ctx, method, field, captioned(true), m)
	if refusal(err, "can't parse entities") {
		id, err = c.postMedia(ctx, method, field, captioned(false), m)
	}
	if chat := migrated(err); chat != "" {
		form[0][1] = chat
		id, err = c.postMedia(ctx, method, field, captioned(true), m)
	}
	if method != "sendDocument" && refusal(err, "photo_invalid", "image_process_failed", "voice_messages_forbidden", "wrong file type",
		"wrong type of the web page content") {
		id, err = c.postMedia(ctx, "sendDocument", "document", captioned(true), m)
	}
	return id, err
}

// postMedia lets Telegram fetch a web address itself and uploads a local file.
func (c *Channel) postMedia(ctx context.Context, method, field string, form [][2]string, m *channel.Media) (int64, error) {
	var sent message
	if strings.Contains(m.URL, "://") {
		if !webLink(m.URL) {
			return 0, fmt.Errorf("%w: only http and https addresses of files can be sent", channel.ErrRefused)
		}
		values := url.Values{field: {m.URL}}
		for _, kv := range form {
			values.Set(kv[0], kv[1])
		}
		text := values.Encode()
		b := body{contentType: "application/x-www-form-urlencoded", r: strings.NewReader(text), size: int64(len(text))}
		err := c.api.do(ctx, callTimeout, method, b, &sent)
		return sent.ID, err
	}
	f, name, size, err := c.open(m)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	b, err := upload(form, []formFile{{field, name, m.MIME, f, size}})
	if err != nil {
		return 0, err
	}
	err = c.api.do(ctx, uploadTimeout, method, b, &sent)
	return sent.ID, err
}

func (c *Channel) open(m *channel.Media) (f io.ReadCloser, name string, size int64, err error) {
	if c.opt.OpenFile == nil {
		return nil, "", 0, fmt.Errorf("%w: this channel may not send files of this machine", channel.ErrRefused)
	}
	if strings.HasPrefix(m.URL, fileScheme) || m.URL == "" {
		return nil, "", 0, fmt.Errorf("%w: the file has no address that can be sent", channel.ErrRefused)
	}
	file, err := c.opt.OpenFile(m.URL)
	if err != nil {
		return nil, "", 0, fmt.Errorf("%w: the file could not be opened: %w", channel.ErrRefused, err)
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		err = fmt.Errorf("%w: the file could not be looked at: %w", channel.ErrRefused, err)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%w: only ordinary files can be sent", channel.ErrRefused)
	case info.Size() > c.opt.MaxFile:
		err = fmt.Errorf("%w: the file has %d bytes, the limit is %d (channels.telegram.mediaMaxMb)", channel.ErrRefused, info.Size(),
			c.opt.MaxFile)
	case info.Size() == 0:
		err = fmt.Errorf("%w: the file is empty", channel.ErrRefused)
	}
	if err != nil {
		return nil, "", 0, errors.Join(err, file.Close())
	}
	if name = m.Name; name == "" {
		name = filepath.Base(m.URL)
	}
	return file, name, info.Size(), nil
}

// fileName is the last step of a path without what could break a header.
func fileName(s string) string {
	s = path.Base(strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\\", "/"))
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == '"' || r == '/' {
			return '_'
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 120 {
		s = string(r[len(r)-120:]) // the ending matters
	}
	if s == "" || s == "." || s == ".." {
		return "file"
	}
	return s
}

// Fetch opens a file that came with a message. It reads at most MaxFile bytes,
// only from the Bot API's own host, and follows no redirect.
func (c *Channel) Fetch(ctx context.Context, m channel.Media) (io.ReadCloser, error) {
	id, ok := strings.CutPrefix(m.URL, fileScheme)
	if !ok || id == "" {
		return nil, fmt.Errorf("%w: this is not a file of a Telegram message", channel.ErrRefused)
	}
	if m.Size > c.opt.MaxFile {
		return nil, fmt.Errorf("%w: the file has %d bytes, the limit is %d", channel.ErrRefused, m.Size, c.opt.MaxFile)
	}
	var f file
	if err := c.api.call(ctx, "getFile", map[string]string{"file_id": id}, &f); err != nil {
		return nil, err
	}
	return c.api.download(ctx, f.Path, c.opt.MaxFile)
}

func (c *client) download(ctx context.Context, filePath string, limit int64) (io.ReadCloser, error) {
	// The path comes from the server: it must stay below the bot's folder.
	clean := path.Clean("/" + filePath)
	if filePath == "" || clean != "/"+filePath || strings.ContainsAny(filePath, "?#%\\:@") {
		return nil, fmt.Errorf("%w: Telegram named a file in a way that is not understood", channel.ErrRefused)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/file/bot"+c.token()+clean, nil)
	if err != nil {
		return nil, fmt.Errorf("write the request for a file: %s", c.redact(err.Error()))
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.broken("a file", err, false)
	}
	if resp.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		_ = resp.Body.Close()
		return nil, c.judge("a file", resp, raw, nil)
	}
	if resp.ContentLength > limit {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%w: the file has %d bytes, the limit is %d", channel.ErrRefused, resp.ContentLength, limit)
	}
	return &capped{c: c, r: resp.Body, left: limit}, nil
}

// capped ends a download that is longer than it may be with an error, so that
// half a file is not taken for a whole one.
type capped struct {
	c    *client
	r    io.ReadCloser
	left int64
}

func (f *capped) Read(p []byte) (int, error) {
	if f.left < 0 {
		return 0, fmt.Errorf("%w: the file is larger than the limit", channel.ErrRefused)
	}
	if int64(len(p)) > f.left+1 {
		p = p[:f.left+1]
	}
	n, err := f.r.Read(p)
	if f.left -= int64(n); f.left < 0 {
		return n - 1, fmt.Errorf("%w: the file is larger than the limit", channel.ErrRefused)
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("the download of a file broke: %s", f.c.redact(err.Error()))
	}
	return n, err
}

func (f *capped) Close() error { return f.r.Close() }
