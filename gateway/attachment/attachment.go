// Package attachment takes the files that come with messages from networks: it
// keeps each in a folder under a harmless name, looks at what it is by its
// bytes, and says in words what a model is told of it. Everything about such a
// file is from outside: its name, its kind and its text. It does not fetch, and
// it does not decide whose folder is used.
package attachment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/document"
	"github.com/hearth-assistant/hearth/gateway/inbound/envelope"
	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

const (
	// maxText of one file is given to a model, and allText of all of one message.
	maxText = 32 << 10
	allText = 64 << 10
	// maxFiles of one message are taken.
	maxFiles = 20
	// leastText is given of a file that comes behind large ones.
	leastText = 512
	tries     = 3
)

// Fetch opens a file of a message.
type Fetch func(ctx context.Context, m channel.Media) (io.ReadCloser, error)

// Taker takes files of messages.
type Taker struct {
	Fetch   Fetch
	Limit   int64  // bytes of one file, 0: any
	Advice  string // where Limit is set, for people
	Folder  Folder
	Picture func(data []byte) (media.Picture, error) // keeps one that models can be shown
	Read    func(ctx context.Context, name, mimeType string, data []byte) (*document.Document, error)
	Wrap    untrusted.Wrapper
	Pause   func(ctx context.Context, d time.Duration) error // between attempts
}

// File is what became of one file.
type File struct {
	channel.Media
	Path    string         // where it is kept, for tools; "" when no tool can reach it
	Picture *media.Picture // it is shown to models that can see
	Words   string         // for the model: one line, and its text where it has some
	Problem string         // for the person: why it was not taken
	Spoken  string         // what was heard in it
	Unheard string         // for the person: why nothing was

	sound []byte // to be listened to, see Listen
}

// Take takes the files of one message that came at at. The same message again
// is kept under the same names.
func (t Taker) Take(ctx context.Context, at time.Time, list []channel.Media) ([]File, error) {
	out := make([]File, 0, len(list))
	room := allText
	for i, m := range list {
		m.Name = envelope.Label(m.Name)
		f := File{Media: m}
		if i >= maxFiles {
			f.fail(fmt.Sprintf("at most %d files of one message are taken; send it by itself", maxFiles))
		} else if err := t.take(ctx, &f, fmt.Sprintf("%s-%02d-", at.UTC().Format("20060102-150405"), i+1), min(room, maxText)); err != nil {
			return nil, err
		}
		room = max(room-len(f.Words), leastText)
		out = append(out, f)
	}
	return out, nil
}

func (t Taker) take(ctx context.Context, f *File, prefix string, room int) error {
	if t.Limit > 0 && f.Size > t.Limit {
		f.fail(t.tooLarge(f.Size))
		return nil
	}
	data, err := t.fetch(ctx, f.Media)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		f.fail("it could not be fetched: " + strings.TrimPrefix(err.Error(), channel.ErrRefused.Error()+": "))
		return nil
	case t.Limit > 0 && int64(len(data)) > t.Limit:
		f.fail(t.tooLarge(int64(len(data))))
		return nil
	case len(data) == 0:
		f.fail("it is empty")
		return nil
	}
	f.Size = int64(len(data))
	name, err := t.Folder.Keep(prefix+Name(f.Name, f.MIME), data)
	if err != nil {
		f.fail("it could not be kept: " + err.Error())
		return nil
	}
	if t.Folder.Shown != "" {
		f.Path = path.Join(t.Folder.Shown, name)
	}
	return t.describe(ctx, f, data, room)
}

func (t Taker) tooLarge(size int64) string {
	return fmt.Sprintf("it has %s, and at most %d MB are taken (%s)", amount(size), t.Limit>>20, t.Advice)
}

func (t Taker) fetch(ctx context.Context, m channel.Media) (data []byte, err error) {
	for n := range tries {
		if n > 0 && t.Pause(ctx, time.Duration(n)*time.Second) != nil {
			return nil, ctx.Err()
		}
		var r io.ReadCloser
		if r, err = t.Fetch(ctx, m); err == nil {
			limit := t.Limit
			if limit <= 0 {
				limit = 1 << 30
			}
			data, err = io.ReadAll(io.LimitReader(r, limit+1))
			err = errors.Join(err, r.Close())
		}
		if err == nil || errors.Is(err, channel.ErrRefused) || errors.Is(err, channel.ErrAuth) || ctx.Err() != nil {
			break
		}
	}
	return data, err
}

// unheard is what a model knows of a sound that nobody listened to.
const unheard = " Nothing here writes down speech yet: you do not know what is said in it. Say so, and ask for the words, unless " +
	"they do not matter."

// fail notes a file that was not taken.
func (f *File) fail(why string) {
	f.Problem = why
	f.Words = envelope.Attached(f.MIME, f.Name, f.Size) + " This file was not taken: " + envelope.Clean(why, "") + ". Say so if it matters."
}

// describe tells of a file that is kept. Its error is ctx's.
func (t Taker) describe(ctx context.Context, f *File, data []byte, room int) error {
	f.Words = envelope.Attached(f.MIME, f.Name, f.Size)
	where := " It is kept, where no tool of this conversation reads it."
	if f.Path != "" {
		where = " It is kept as " + f.Path + " in the workspace."
	}
	kind, _, _ := strings.Cut(f.MIME, "/")
	if p, err := t.Picture(data); err == nil {
		f.Picture, f.MIME = &p, p.MIME
		f.Words = envelope.Attached(f.MIME, f.Name, f.Size) + where
		if f.Path != "" {
			f.Words += " If you cannot see it, the tool image can look at it there."
		}
		return nil
	} else if kind == "image" || !errors.Is(err, media.ErrKind) {
		f.Words += " It cannot be shown to a model: " + err.Error() + "." + where
		return nil
	}
	if kind == "audio" || f.Voice {
		f.sound = data
		f.Words += where + unheard
		return nil
	}
	d, err := t.Read(ctx, f.Name, f.MIME, data)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		f.Words += where + " Its content could not be read: " + envelope.Clean(err.Error(), "") + "."
		return nil
	}
	told := Named(f.Name, f.MIME, f.Size, d)
	f.Words = Say(&told, d, f.Path, room, t.Wrap)
	return nil
}

func amount(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KB", (n+1023)>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// NotTaken tells of files that could not be taken, all for one reason.
func NotTaken(list []channel.Media, why string) (out []File) {
	for _, m := range list {
		m.Name = envelope.Label(m.Name)
		f := File{Media: m}
		f.fail(why)
		out = append(out, f)
	}
	return out
}
