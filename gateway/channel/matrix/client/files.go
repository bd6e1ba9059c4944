//go:build goolm

package client

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"maunium.net/go/mautrix/crypto/attachment"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// askLimits learns how large a file may be.
func (c *Client) askLimits(ctx context.Context, s *session) {
	got, err := s.api.GetMediaConfig(ctx)
	if err != nil || got.UploadSize <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limits.Files = min(c.limits.Files, got.UploadSize)
}

// upload gives a file to the server, encrypted where the room is.
func (c *Client) upload(ctx context.Context, s *session, r *room, m channel.Media) (*event.MessageEventContent, error) {
	if c.openFile == nil {
		return nil, fmt.Errorf("%w: no file may leave here", channel.ErrRefused)
	}
	f, err := c.openFile(m.URL)
	if err != nil {
		return nil, fmt.Errorf("open the file that is to be sent: %w", err)
	}
	defer func() { _ = f.Close() }()
	most := c.Limits().Files
	data, err := channel.ReadFile(f, most)
	if err != nil {
		return nil, fmt.Errorf("read the file that is to be sent: %w", err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%w: %s has more than the %d bytes that the server takes", channel.ErrRefused, m.Name, most)
	}
	name := cmp.Or(line(path.Base(m.Name), 120), "file")
	out := &event.MessageEventContent{
		MsgType: kindOf(m.MIME), Body: name, FileName: name, Info: &event.FileInfo{MimeType: m.MIME, Size: len(data)},
	}
	c.mu.Lock()
	encrypted := r.encryption != nil
	c.mu.Unlock()
	kind := m.MIME
	if encrypted {
		file := attachment.NewEncryptedFile()
		file.EncryptInPlace(data)
		kind, name = "application/octet-stream", ""
		out.File = &event.EncryptedFileInfo{EncryptedFile: *file}
	}
	got, err := s.api.UploadBytesWithName(ctx, data, kind, name)
	if err != nil {
		return nil, failure(err, false) // a file that nobody names is no message
	}
	if out.File != nil {
		out.File.URL = got.ContentURI.CUString()
	} else {
		out.URL = got.ContentURI.CUString()
	}
	return out, nil
}

// kindOf is how a file is shown.
func kindOf(mime string) event.MessageType {
	switch {
	case strings.HasPrefix(mime, "image/"):
		return event.MsgImage
	case strings.HasPrefix(mime, "video/"):
		return event.MsgVideo
	case strings.HasPrefix(mime, "audio/"):
		return event.MsgAudio
	}
	return event.MsgFile
}

// Fetch implements channel.Fetcher: it reads the message once more.
func (c *Client) Fetch(ctx context.Context, m channel.Media) (io.ReadCloser, error) {
	gone := fmt.Errorf("%w: the message is no longer there", channel.ErrRefused)
	of, at, ok := strings.Cut(m.URL, "/")
	if !ok || checkRoom(of) != nil || !strings.HasPrefix(at, "$") {
		return nil, gone
	}
	s, err := c.current()
	if err != nil {
		return nil, err
	}
	r, err := c.room(ctx, s, id.RoomID(of))
	if err != nil {
		return nil, err
	}
	e, err := s.api.GetEvent(ctx, r.id, id.EventID(at))
	if err != nil {
		return nil, failure(err, false)
	}
	e.RoomID = r.id
	plain, err := c.plain(ctx, s, r, e, openNew)
	if err == nil && plain != nil {
		err = c.written(ctx, s, e, plain)
	}
	if err != nil {
		return nil, err
	}
	if plain == nil {
		return nil, gone
	}
	content, ok := message(plain)
	if !ok {
		return nil, gone
	}
	address := content.URL
	if content.File != nil {
		address = content.File.URL
	}
	uri, err := address.Parse()
	if err != nil || uri.IsEmpty() {
		return nil, gone
	}
	data, err := c.download(ctx, s, uri, m.Name)
	if err != nil {
		return nil, err
	}
	if content.File != nil {
		if err := content.File.DecryptInPlace(data); err != nil {
			return nil, fmt.Errorf("%w: the file %s is not what was sent: %w", channel.ErrRefused, m.Name, err)
		}
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// download reads a file from the server.
func (c *Client) download(ctx context.Context, s *session, uri id.ContentURI, name string) ([]byte, error) {
	resp, err := s.api.Download(ctx, uri)
	if err != nil {
		return nil, failure(err, false)
	}
	defer func() { _ = resp.Body.Close() }()
	most := cmp.Or(c.maxFile, 100<<20)
	data, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return nil, fmt.Errorf("fetch the file %s: %w", name, err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%w: %s has more than the %d bytes that are allowed", channel.ErrRefused, name, most)
	}
	return data, nil
}
