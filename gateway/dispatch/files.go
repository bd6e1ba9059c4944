package dispatch

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/attachment/handin"
	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
	"github.com/hearth-assistant/hearth/gateway/session"
)

const (
	// fileShare of a model's window may be filled with the text of a message's files.
	fileShare = 4
	// usualWindow is assumed of a model that does not tell its window, in tokens.
	usualWindow = 32_000
	// bytesPerToken is cautious, as in package session.
	bytesPerToken = 3
	// maxFileText of one message is given, however large the window is.
	maxFileText = 600 << 10
)

var (
	errLargeFile = fmt.Errorf("it is larger than %d MB; put it into the workspace instead, and name it", protocol.MaxAttachmentBytes>>20)
	errNoBase64  = errors.New("its content is not base64")
)

// Attach judges and keeps the files of a message: pictures as models are shown them,
// and others as text. Uploads are forgotten once the message was accepted (Attached).
func (d *Dispatcher) Attach(ctx context.Context, turn session.Turn, list []protocol.Attachment) ([]protocol.Block, error) {
	if len(list) > protocol.MaxAttachments {
		return nil, protocol.Invalid("A message can have at most %d files, this one has %d. Send them in several messages; nothing was "+
			"accepted.", protocol.MaxAttachments, len(list))
	}
	var pictures []protocol.Attachment
	var files []handin.Item
	for i, a := range list {
		f, ok, err := d.fileOf(a)
		switch {
		case err != nil:
			return nil, protocol.Invalid("Attachment %d%s cannot be sent: %v. Nothing was accepted.", i+1,
				inBrackets(wire.Clean(a.FileName, 120)), err)
		case ok:
			files = append(files, f)
		default:
			pictures = append(pictures, a)
		}
	}
	var out []protocol.Block
	if len(pictures) > 0 {
		var err error
		if out, err = d.Pictures(ctx, turn, pictures); err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return out, nil
	}
	blocks, err := d.desk.Take(ctx, turn.SessionKey, files, d.fileRoom(ctx, turn))
	return slices.Concat(out, blocks), err
}

// Attached forgets the uploads of a message that was accepted.
func (d *Dispatcher) Attached(list []protocol.Attachment) {
	for _, a := range list {
		if a.Upload != "" {
			d.desk.Drop(a.Upload)
		}
	}
}

// fileOf is an attachment that is no picture; ok is false for those that models are
// shown, which Pictures judges.
func (d *Dispatcher) fileOf(a protocol.Attachment) (f handin.Item, ok bool, err error) {
	if a.Upload != "" {
		f, err = d.desk.Get(a.Upload)
		return f, true, err
	}
	if a.Type == "image" || a.Type == "" && strings.HasPrefix(a.MimeType, "image/") || strings.HasPrefix(a.Content, "data:image/") {
		return f, false, nil
	}
	s := a.Content
	if rest, is := strings.CutPrefix(s, "data:"); is {
		_, s, _ = strings.Cut(rest, ",")
	}
	if base64.StdEncoding.DecodedLen(len(s)) > protocol.MaxAttachmentBytes+4 {
		return f, false, errLargeFile
	}
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return f, false, errNoBase64
	}
	if _, judged := media.Judge(data); a.Type == "" && judged == nil {
		return f, false, nil
	}
	return handin.Item{Name: a.FileName, MIME: a.MimeType, Data: data}, true, nil
}

// fileRoom is how many bytes of files' text fit the window of the model that answers.
func (d *Dispatcher) fileRoom(ctx context.Context, turn session.Turn) int {
	window := usualWindow
	if c, err := d.answering(ctx, turn); err == nil && c.ContextWindow > 0 {
		window = c.ContextWindow
	}
	return min(window/fileShare*bytesPerToken, maxFileText)
}
