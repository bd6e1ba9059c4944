// Package sendfile finds the files that leave by messaging networks: only those of
// a workspace, looked at when they are named and once more when they are sent. It
// does not decide who gets one.
package sendfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/safepath"
)

// Finder finds files by the names that models give them.
type Finder interface {
	Find(workspace, name string) (*safepath.Path, error)
}

// Limits tells how large a file can be, in bytes; 0: any size.
type Limits interface {
	FileLimit(network, account string) int64
}

// Secrets knows what looks like a key, and the owner's own.
type Secrets interface {
	Has(text string) bool
}

// Files are those that can be sent.
type Files struct {
	Finder  Finder
	Agents  *agents.Directory
	Limits  Limits
	Secrets Secrets
}

// maxSecretScan of a file is looked through for keys and passwords.
const maxSecretScan = 4 << 20

// Named finds a file that a model names for sending: an address, or a file
// of the workspace, which is looked at here and opened again when it is sent.
func (f *Files) Named(workspace, ref, network, account string) (channel.Media, error) {
	m := channel.Media{URL: strings.TrimSpace(ref)}
	limit := f.Limits.FileLimit(network, account)
	if u, err := url.Parse(m.URL); err == nil && len(u.Scheme) > 1 {
		switch {
		case u.Scheme == "https" || u.Scheme == "http":
			if u.Host == "" || u.User != nil {
				return m, errors.New("the address cannot be used")
			}
			m.Name = path.Base(u.Path)
			m.MIME = kindByName(m.Name)
			return m, nil
		case u.Scheme == "file" && (u.Host == "" || u.Host == "localhost"):
			m.URL = u.Path
		default:
			return m, errors.New("only a path in the workspace or an https address can be sent")
		}
	}
	p, err := f.Finder.Find(workspace, m.URL)
	if err != nil {
		return m, err
	}
	defer p.Close()
	file, size, err := openSendable(p)
	if err != nil {
		return m, err
	}
	defer file.Close()
	switch {
	case size == 0:
		return m, errors.New("the file is empty")
	case limit > 0 && size > limit:
		return m, fmt.Errorf("it has %d MB, and at most %d MB are sent (channels.%s.mediaMaxMb)", (size+1<<20-1)>>20, limit>>20, network)
	}
	head, err := io.ReadAll(io.LimitReader(file, maxSecretScan))
	if err != nil {
		return m, fmt.Errorf("read the file: %w", err)
	}
	if f.Secrets.Has(string(head)) {
		return m, errors.New("it holds one of the owner's keys or passwords")
	}
	m.URL, m.Name, m.Size = p.Path, path.Base(strings.ReplaceAll(p.Path, "\\", "/")), size
	if m.MIME = kindByName(m.Name); m.MIME == "" || strings.HasPrefix(m.MIME, "image/") {
		m.MIME, _, _ = mime.ParseMediaType(http.DetectContentType(head))
	}
	return m, nil
}

// kindByName knows the kinds that networks show in a way of their own; the
// system's table differs from machine to machine.
func kindByName(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".png":
		return "image/png"
	case ".webp":
		return "image/webp"
	case ".gif":
		return "image/gif"
	case ".ogg", ".oga", ".opus":
		return "audio/ogg"
	case ".mp3":
		return "audio/mpeg"
	case ".m4a":
		return "audio/mp4"
	case ".mp4":
		return "video/mp4"
	case ".pdf":
		return "application/pdf"
	case ".txt", ".md", ".csv", ".log":
		return "text/plain"
	}
	return ""
}

// openSendable opens a place of a workspace.
func openSendable(p *safepath.Path) (f fs.File, size int64, err error) {
	if !p.Inside {
		return nil, 0, errors.New("it is outside of the workspace; copy it there first")
	}
	if v, why := p.Judge(false); v != safepath.Free {
		return nil, 0, fmt.Errorf("it may not be sent, because %s", why)
	}
	file, info, err := p.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, errors.New("there is no such file any more")
	}
	if err != nil {
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// Open opens a file that was found by Named, when it is sent: it must
// still be one of a workspace.
func (f *Files) Open(name string) (fs.File, error) {
	err := errors.New("it is in no workspace")
	for _, a := range append(f.Agents.Book().All(), f.Agents.Book().Default()) {
		p, ferr := f.Finder.Find(a.Workspace, name)
		if ferr != nil || !p.Inside {
			if ferr == nil {
				p.Close()
			}
			continue
		}
		var file fs.File
		file, _, err = openSendable(p)
		p.Close()
		if err == nil {
			return file, nil
		}
	}
	return nil, err
}

// Web reports whether a file is an address of the web, which is no file of this
// computer.
func Web(m channel.Media) bool {
	return strings.HasPrefix(m.URL, "https://") || strings.HasPrefix(m.URL, "http://")
}
