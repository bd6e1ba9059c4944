package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Telegram's limits of an album.
const (
	maxAlbum = 10
	// maxAlbumBytes is what one request may carry.
	maxAlbumBytes = 50 << 20
)

// company is what a file can stand beside in an album: pictures and videos together,
// music with music, documents with documents; voice notes and animations alone.
func company(m *channel.Media, how channel.Manner) string {
	switch _, field := sendMethod(m, how); field {
	case "photo", "video":
		return "seen"
	case "audio", "document":
		return field
	}
	return ""
}

// Albums cuts the files of an answer into what is sent as one message each. Files keep
// their order among those that they can stand beside.
func (c *Channel) Albums(media []channel.Media, how channel.Manner) (out [][]channel.Media) {
	open := map[string]int{} // the album of a company that still has room
	bytes := map[string]int64{}
	for _, m := range media {
		with := company(&m, how)
		at, ok := open[with]
		if with != "" && ok && len(out[at]) < maxAlbum && bytes[with]+m.Size <= maxAlbumBytes {
			out[at] = append(out[at], m)
			bytes[with] += m.Size
			continue
		}
		open[with], bytes[with] = len(out), m.Size
		out = append(out, []channel.Media{m})
	}
	return out
}

// albumItem is one file of a media group.
type albumItem struct {
	Type      string `json:"type"`
	Media     string `json:"media"` // an address, or attach:// and a part of the form
	Caption   string `json:"caption,omitempty"`
	ParseMode string `json:"parse_mode,omitempty"`
}

// sendAlbum sends two to ten files as one message; Telegram takes all or none. The
// caption stands with the first, which makes it that of all.
func (c *Channel) sendAlbum(ctx context.Context, to place, i int, p part) (int64, error) {
	html := p.text.plain != ""
	id, err := c.postAlbum(ctx, to, i, p, html)
	if html && refusal(err, "can't parse entities") {
		c.log.Warn("Telegram did not take the formatting of a caption; it is sent as plain text", "err", err)
		html = false
		id, err = c.postAlbum(ctx, to, i, p, html)
	}
	if chat := migrated(err); chat != "" {
		to.chat = chat
		id, err = c.postAlbum(ctx, to, i, p, html)
	}
	return id, err
}

func (c *Channel) postAlbum(ctx context.Context, to place, i int, p part, html bool) (int64, error) {
	var files []formFile
	defer func() {
		for _, f := range files {
			_ = f.data.Close()
		}
	}()
	items := make([]albumItem, len(p.media))
	for n := range p.media {
		m := &p.media[n]
		_, items[n].Type = sendMethod(m, p.how)
		if strings.Contains(m.URL, "://") {
			if !webLink(m.URL) {
				return 0, fmt.Errorf("%w: only http and https addresses of files can be sent", channel.ErrRefused)
			}
			items[n].Media = m.URL
			continue
		}
		data, name, size, err := c.open(m)
		if err != nil {
			return 0, err
		}
		files = append(files, formFile{"file" + strconv.Itoa(n), name, m.MIME, data, size})
		items[n].Media = "attach://file" + strconv.Itoa(n)
	}
	switch {
	case html:
		items[0].Caption, items[0].ParseMode = p.text.html, "HTML"
	default:
		items[0].Caption = p.text.plain
	}
	list, err := json.Marshal(items)
	if err != nil {
		return 0, fmt.Errorf("write an album: %w", err)
	}
	b, err := upload(append(mediaForm(to, i, p.how), [2]string{"media", string(list)}), files)
	if err != nil {
		return 0, err
	}
	var sent []message
	if err := c.api.do(ctx, uploadTimeout, "sendMediaGroup", b, &sent); err != nil {
		return 0, err
	}
	if len(sent) == 0 {
		return 0, fmt.Errorf("%w: Telegram named no message of an album", channel.ErrUncertain)
	}
	return sent[0].ID, nil
}

// mediaForm is what every request with files begins with.
func mediaForm(to place, i int, how channel.Manner) [][2]string {
	form := append([][2]string{{"chat_id", to.chat}}, to.business()...)
	if t := to.topic(); t != 0 {
		form = append(form, [2]string{"message_thread_id", strconv.FormatInt(t, 10)})
	}
	if r := to.answering(i); r != nil {
		form = append(form, [2]string{"reply_parameters", fmt.Sprintf(`{"message_id":%d,"allow_sending_without_reply":true}`, r.MessageID)})
	}
	if how.Silent {
		form = append(form, [2]string{"disable_notification", "true"})
	}
	return form
}

// formFile is a file within a form.
type formFile struct {
	field, name, mime string
	data              io.ReadCloser
	size              int64
}

// upload puts a form around files without holding them in memory.
func upload(form [][2]string, files []formFile) (body, error) {
	var written bytes.Buffer
	w := multipart.NewWriter(&written)
	for _, kv := range form {
		if err := w.WriteField(kv[0], kv[1]); err != nil {
			return body{}, fmt.Errorf("write the upload: %w", err)
		}
	}
	var readers []io.Reader
	var size int64
	flush := func() {
		size += int64(written.Len())
		readers = append(readers, bytes.NewReader(bytes.Clone(written.Bytes())))
		written.Reset()
	}
	for _, f := range files {
		h := textproto.MIMEHeader{}
		h.Set("Content-Disposition", fmt.Sprintf(`form-data; name="%s"; filename="%s"`, f.field, fileName(f.name)))
		h.Set("Content-Type", "application/octet-stream")
		if f.mime != "" && !strings.ContainsAny(f.mime, "\r\n") {
			h.Set("Content-Type", f.mime)
		}
		if _, err := w.CreatePart(h); err != nil {
			return body{}, fmt.Errorf("write the upload: %w", err)
		}
		flush()
		readers, size = append(readers, io.LimitReader(f.data, f.size)), size+f.size
	}
	if err := w.Close(); err != nil {
		return body{}, fmt.Errorf("write the upload: %w", err)
	}
	flush()
	return body{contentType: w.FormDataContentType(), size: size, r: io.MultiReader(readers...)}, nil
}
