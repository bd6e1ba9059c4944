package tui

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/hearth-assistant/hearth/app/terminal"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// maxFiles go with one message.
const maxFiles = 10

// attached is a file that goes with a message.
type attached struct {
	path, name string
	size       int64
	upload     string // the id of it at the gateway, once it is whole there
}

// attach puts a file beside what is being written.
func (m *Model) attach(path string) {
	f, err := fileOf(path)
	switch {
	case path == "":
		m.notice = "Which file? Type its path behind /attach, or paste it."
	case err != nil:
		m.notice = "Not attached: " + err.Error()
	case len(m.room.files) >= maxFiles:
		m.notice = fmt.Sprintf("At most %d files go with one message.", maxFiles)
	default:
		m.room.files = append(m.room.files, f)
		m.notice = "Attached: " + terminal.Line(f.name) + ". /detach takes it away."
	}
}

// fileOf is the file of a path as people and terminals write it: with ~, quotes,
// backslashes before blanks, or as a file: address.
func fileOf(path string) (*attached, error) {
	path = unquote(path)
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("nobody knows what ~ is: %w", err)
		}
		path = filepath.Join(home, rest)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the file cannot be read: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", path)
	case info.Size() == 0:
		return nil, fmt.Errorf("%s is empty", path)
	case info.Size() > protocol.MaxAttachmentBytes:
		return nil, fmt.Errorf("%s has %d MB, and at most %d MB are taken", path, info.Size()>>20, protocol.MaxAttachmentBytes>>20)
	}
	return &attached{path: path, name: filepath.Base(path), size: info.Size()}, nil
}

func unquote(s string) string {
	s = strings.TrimSpace(s)
	if n := len(s); n > 1 && (s[0] == '\'' || s[0] == '"') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	if u, err := url.Parse(s); err == nil && u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") {
		return u.Path
	}
	if !strings.Contains(s, `\`) || os.PathSeparator == '\\' {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// pasted is a file whose whole path was pasted or dropped onto the terminal. Words
// that only look like one stay words.
func pasted(s string) *attached {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 4096 || strings.Contains(s, "\n") {
		return nil
	}
	if p := unquote(s); !filepath.IsAbs(p) && !strings.HasPrefix(p, "~/") {
		return nil
	}
	f, err := fileOf(s)
	if err != nil {
		return nil
	}
	return f
}

// handIn gives the gateway the files of a message in parts. What is there already
// is not given again.
func (m *Model) handIn(files []*attached) ([]protocol.Attachment, error) {
	var out []protocol.Attachment
	for _, f := range files {
		if f.upload == "" {
			if err := m.upload(f); err != nil {
				return nil, err
			}
		}
		out = append(out, protocol.Attachment{Type: "file", FileName: f.name, Upload: f.upload})
	}
	return out, nil
}

func (m *Model) upload(a *attached) error {
	f, err := os.Open(a.path)
	if err != nil {
		return fmt.Errorf("the file cannot be read: %w", err)
	}
	defer f.Close()
	part := make([]byte, min(int64(protocol.MaxUploadPart), a.size))
	p := protocol.UploadPutParams{FileName: a.name, Size: a.size}
	for p.Offset < a.size {
		n, err := f.ReadAt(part, p.Offset)
		if n == 0 || err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s changed while it was read: %w", a.name, errors.Join(err, io.ErrUnexpectedEOF))
		}
		p.Content = base64.StdEncoding.EncodeToString(part[:min(int64(n), a.size-p.Offset)])
		var r protocol.UploadPutResult
		if err := m.wire.Call(m.ctx, protocol.MethodUploadPut, p, &r); err != nil {
			return err
		}
		if r.Received <= p.Offset {
			return fmt.Errorf("the gateway took nothing of %s; send it again", a.name)
		}
		p.Upload, p.Offset = r.Upload, r.Received
	}
	a.upload = p.Upload
	return nil
}

// drawFiles names what goes with the message that is being written.
func (m *Model) drawFiles(w, h int) []string {
	if h == 0 {
		return nil
	}
	var names []string
	for _, f := range m.room.files {
		names = append(names, terminal.Line(f.name)+" ("+sized(f.size)+")")
	}
	return []string{clip(m.theme.busy.paint("+ ")+strings.Join(names, ", "), w)}
}

func sized(n int64) string {
	switch {
	case n >= 1<<20:
		return itoa(int(n>>20)) + " MB"
	case n >= 1<<10:
		return itoa(int(n>>10)) + " KB"
	}
	return itoa(int(n)) + " bytes"
}
