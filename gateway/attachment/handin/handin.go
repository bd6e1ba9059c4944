// Package handin takes the files that clients hand in with a message: in parts
// before it is sent, or with it. It keeps them in the workspace of the assistant
// that is asked, has their text read (package document), and says what a model is
// told of them. Pictures that models are shown are not its business (package media),
// nor is who may hand something in.
package handin

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/attachment"
	"github.com/hearth-assistant/hearth/gateway/document"
	"github.com/hearth-assistant/hearth/gateway/inbound/envelope"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

const (
	// Inbox is the folder of a workspace that holds what was handed in.
	Inbox = "inbox"
	// maxWaiting uploads, and their bytes, wait for their messages.
	maxWaiting = 64
	maxBytes   = 512 << 20
	// maxAge is how long one waits.
	maxAge = 48 * time.Hour
	// leastText of a file is given when others took the rest of the room.
	leastText = 512
)

// Reader reads files.
type Reader interface {
	Read(ctx context.Context, name, mimeType string, data []byte) (*document.Document, error)
}

// Options are the parts that a Desk needs; all of them.
type Options struct {
	Dir       statedir.Dir
	Workspace func(sessionKey string) string // absolute path of the folder
	Reader    Reader
	Now       func() time.Time
}

// Desk takes files. Its methods may be called from several goroutines.
type Desk struct {
	o  Options
	mu sync.Mutex // over the folder of uploads
}

// New returns a desk. The folder is made with the first upload.
func New(o Options) *Desk { return &Desk{o: o} }

// Item is a file of a message.
type Item struct {
	Name, MIME string
	Data       []byte
	doc        *document.Document // as it was read when it was uploaded, nil: not yet
}

// about is what is kept beside the bytes of an upload.
type about struct {
	Name string             `json:"name"`
	MIME string             `json:"mime,omitempty"`
	Size int64              `json:"size"`
	Doc  *document.Document `json:"doc,omitempty"` // once all bytes are there
}

// ErrGone: there is no such upload, or not all of it.
var ErrGone = errors.New("the file that was uploaded is not there any more, or not whole; attach it again")

// tooLarge is for people.
func tooLarge(size int64) error {
	return protocol.Invalid("The file has %.1f MB, and at most %d MB are taken. Put it into the workspace instead, and name it.",
		float64(size)/(1<<20), protocol.MaxAttachmentBytes>>20)
}

var ids = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// Put takes a part of an upload. With the last one the file is read.
func (d *Desk) Put(ctx context.Context, p protocol.UploadPutParams) (protocol.UploadPutResult, error) {
	if base64.StdEncoding.DecodedLen(len(p.Content)) > protocol.MaxUploadPart+3 {
		return protocol.UploadPutResult{}, protocol.InvalidParams(protocol.MethodUploadPut, "a part may have at most %d bytes",
			protocol.MaxUploadPart)
	}
	data, err := base64.StdEncoding.DecodeString(p.Content)
	if err != nil {
		return protocol.UploadPutResult{}, protocol.InvalidParams(protocol.MethodUploadPut, "content is not base64")
	}
	d.mu.Lock()
	id, a, have, err := d.append(p, data)
	d.mu.Unlock()
	if err != nil || have < a.Size {
		return protocol.UploadPutResult{Upload: id, Received: have}, err
	}
	whole, err := os.ReadFile(d.at(id))
	if err != nil {
		return protocol.UploadPutResult{}, fmt.Errorf("read an upload: %w", err)
	}
	if a.Doc, err = d.o.Reader.Read(ctx, a.Name, a.MIME, whole); err != nil {
		return protocol.UploadPutResult{}, err
	}
	d.mu.Lock()
	err = d.write(id, a)
	d.mu.Unlock()
	f := attachment.Named(a.Name, a.MIME, a.Size, a.Doc)
	return protocol.UploadPutResult{Upload: id, Received: have, File: &f}, err
}

func (d *Desk) at(id string) string { return filepath.Join(d.o.Dir.Uploads(), id) }

func (d *Desk) write(id string, a about) error {
	raw, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return statedir.WriteFile(d.at(id)+".json", raw)
}

func (d *Desk) read(id string) (a about, err error) {
	if !ids.MatchString(id) {
		return a, protocol.Invalid("%v", ErrGone)
	}
	raw, err := os.ReadFile(d.at(id) + ".json")
	if err != nil || json.Unmarshal(raw, &a) != nil {
		return a, protocol.Invalid("%v", ErrGone)
	}
	return a, nil
}

// append adds a part to its file, and returns how much there is now. A part that came
// before adds nothing.
func (d *Desk) append(p protocol.UploadPutParams, data []byte) (id string, a about, have int64, err error) {
	id = p.Upload
	if id == "" {
		if id, a, err = d.begin(p); err != nil {
			return "", a, 0, err
		}
	} else if a, err = d.read(id); err != nil {
		return "", a, 0, err
	}
	f, err := os.OpenFile(d.at(id), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", a, 0, fmt.Errorf("keep an upload: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", a, 0, fmt.Errorf("keep an upload: %w", err)
	}
	have = info.Size()
	switch end := p.Offset + int64(len(data)); {
	case p.Offset < 0 || p.Offset > have || end > a.Size:
		return "", a, 0, protocol.InvalidParams(protocol.MethodUploadPut, "offset is %d, and %d of %d bytes were received", p.Offset, have,
			a.Size)
	case end <= have:
		return id, a, have, nil
	default:
		if _, err := f.WriteAt(data, p.Offset); err != nil {
			return "", a, 0, fmt.Errorf("keep an upload: %w", err)
		}
		return id, a, end, nil
	}
}

func (d *Desk) begin(p protocol.UploadPutParams) (string, about, error) {
	a := about{Name: envelope.Label(p.FileName), MIME: envelope.Label(p.MimeType), Size: p.Size}
	switch {
	case p.Size <= 0:
		return "", a, protocol.Invalid("%s is empty, so there is nothing to attach.", a.Name)
	case p.Size > protocol.MaxAttachmentBytes:
		return "", a, tooLarge(p.Size)
	}
	if err := os.MkdirAll(d.o.Dir.Uploads(), 0o700); err != nil {
		return "", a, fmt.Errorf("keep an upload: %w", err)
	}
	if err := d.sweep(p.Size); err != nil {
		return "", a, err
	}
	id := rand.Text()
	return id, a, d.write(id, a)
}

// sweep removes what waited too long, and refuses more than may wait (A-FILE-13).
func (d *Desk) sweep(more int64) error {
	list, err := os.ReadDir(d.o.Dir.Uploads())
	if err != nil {
		return fmt.Errorf("keep an upload: %w", err)
	}
	n := 0
	for _, e := range list {
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case d.o.Now().Sub(info.ModTime()) > maxAge:
			_ = os.Remove(filepath.Join(d.o.Dir.Uploads(), e.Name()))
		default:
			n++
			more += info.Size()
		}
	}
	if n/2 >= maxWaiting || more > maxBytes {
		return protocol.Invalid("Too many files wait for their messages. Send those that are attached, or take some out.")
	}
	return nil
}

// Drop forgets an upload.
func (d *Desk) Drop(id string) {
	if !ids.MatchString(id) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = os.Remove(d.at(id))
	_ = os.Remove(d.at(id) + ".json")
}

// Get is an upload that is whole, as a file of a message; ErrGone in words otherwise.
func (d *Desk) Get(id string) (Item, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, err := d.read(id)
	if err != nil {
		return Item{}, err
	}
	data, err := os.ReadFile(d.at(id))
	if err != nil || a.Doc == nil || int64(len(data)) != a.Size {
		return Item{}, protocol.Invalid("%v", ErrGone)
	}
	return Item{a.Name, a.MIME, data, a.Doc}, nil
}

// Take keeps the files of a message, and makes a block of each that says what a model
// is told: of all of them together at most room bytes of text. The same files again
// make the same blocks.
func (d *Desk) Take(ctx context.Context, sessionKey string, list []Item, room int) ([]protocol.Block, error) {
	folder := attachment.Folder{Root: d.o.Workspace(sessionKey), Dir: Inbox, Shown: Inbox}
	var out []protocol.Block
	for _, f := range list {
		switch {
		case len(f.Data) == 0:
			return nil, protocol.Invalid("%s is empty, so there is nothing to attach. Nothing was accepted.", envelope.Label(f.Name))
		case len(f.Data) > protocol.MaxAttachmentBytes:
			return nil, tooLarge(int64(len(f.Data)))
		}
		if f.doc == nil {
			var err error
			if f.doc, err = d.o.Reader.Read(ctx, f.Name, f.MIME, f.Data); err != nil {
				return nil, err
			}
		}
		name, err := folder.Keep(attachment.Name(f.Name, f.MIME), f.Data)
		if err != nil {
			return nil, protocol.Invalid("%s cannot be kept in the workspace: %v. Nothing was accepted.", envelope.Label(f.Name), err)
		}
		told := attachment.Named(f.Name, f.MIME, int64(len(f.Data)), f.doc)
		words := attachment.Say(&told, f.doc, path.Join(Inbox, name), max(room, leastText), untrusted.Wrapper{})
		room -= len(words)
		out = append(out, protocol.Block{Type: protocol.BlockFile, Text: words, FileName: told.Name, MimeType: told.MimeType,
			MediaID: attachment.Sum(f.Data), File: &told})
	}
	return out, nil
}
