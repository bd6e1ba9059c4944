// Package media keeps the pictures of conversations: it judges them before they
// are taken, and stores each once under the sum of its bytes. It decodes no more
// than a picture's header, shows nothing, and knows nothing of who refers to one.
package media

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Limits of one picture.
const (
	MaxBytes  = 5 << 20
	MaxPixels = 40_000_000
	maxAll    = 2 << 30 // of all pictures
)

// Why a picture is not taken; the error's text is for people.
var (
	ErrKind  = errors.New("this is no picture that Hearth can show to a model; PNG, JPEG, GIF and WebP work")
	ErrLarge = fmt.Errorf("the picture is larger than %d MB; make it smaller", MaxBytes>>20)
	ErrFull  = errors.New("the pictures of all conversations take as much space as they may; text still works, and there is room again " +
		"when files of the folder media in Hearth's folder are moved away")
	ErrPixels = fmt.Errorf("the picture has more than %d million pixels; make it smaller", MaxPixels/1_000_000)
	ErrBroken = errors.New("the picture is damaged: its size cannot be read")
	ErrGone   = errors.New("the picture is not kept any more")
)

// Picture is what is known of a stored picture.
type Picture struct {
	ID            string // the sum of its bytes
	MIME          string
	Width, Height int
}

// Store keeps pictures in one folder. It is safe for concurrent use.
type Store struct {
	dir string
	max int64
}

// New returns a store in dir, which is made with the first picture.
func New(dir string) *Store { return &Store{dir, maxAll} }

// Limit bounds what all pictures together may take; more are refused.
func (s *Store) Limit(bytes int64) *Store { return &Store{s.dir, bytes} }

// room refuses what would fill the disk with pictures.
func (s *Store) room(more int64) error {
	list, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("keep a picture: %w", err)
	}
	for _, e := range list {
		if info, err := e.Info(); err == nil {
			more += info.Size()
		}
	}
	if more > s.max {
		return ErrFull
	}
	return nil
}

// Judge looks at a picture's kind and size, by its bytes alone.
func Judge(data []byte) (Picture, error) {
	if len(data) > MaxBytes {
		return Picture{}, ErrLarge
	}
	mime, decode := kindOf(data)
	if decode == nil {
		return Picture{}, ErrKind
	}
	c, err := decode(data)
	switch {
	case err != nil || c.Width <= 0 || c.Height <= 0:
		return Picture{}, ErrBroken
	case c.Width > MaxPixels || c.Height > MaxPixels || c.Width*c.Height > MaxPixels:
		return Picture{}, ErrPixels
	}
	sum := sha256.Sum256(data)
	return Picture{hex.EncodeToString(sum[:]), mime, c.Width, c.Height}, nil
}

// Put stores a picture that Judge accepts.
func (s *Store) Put(data []byte) (Picture, error) {
	p, err := Judge(data)
	if err != nil {
		return p, err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return p, fmt.Errorf("keep a picture: %w", err)
	}
	path := filepath.Join(s.dir, p.ID)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(data)) {
		now := time.Now() // so that nobody takes it for one that belongs to nothing
		_ = os.Chtimes(path, now, now)
		return p, nil
	}
	if err := s.room(int64(len(data))); err != nil {
		return p, err
	}
	if err := statedir.WriteFile(path, data); err != nil {
		return p, fmt.Errorf("keep a picture: %w", err)
	}
	return p, nil
}

// Get returns a stored picture, or ErrGone.
func (s *Store) Get(id string) (Picture, []byte, error) {
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != sha256.Size {
		return Picture{}, nil, ErrGone
	}
	data, err := os.ReadFile(filepath.Join(s.dir, id))
	if errors.Is(err, fs.ErrNotExist) {
		return Picture{}, nil, ErrGone
	}
	if err != nil {
		return Picture{}, nil, fmt.Errorf("read a picture: %w", err)
	}
	p, err := Judge(data)
	if err != nil || p.ID != id { // somebody changed the file
		return Picture{}, nil, ErrGone
	}
	return p, data, nil
}

// Image is a picture as a model is shown it.
func (s *Store) Image(id string) (model.Image, error) {
	p, data, err := s.Get(id)
	return model.Image{MIME: p.MIME, Data: data, ID: id}, err
}

type header func([]byte) (image.Config, error)

// kindOf tells a picture by how it begins.
func kindOf(b []byte) (mime string, decode header) {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png", func(b []byte) (image.Config, error) { return png.DecodeConfig(bytes.NewReader(b)) }
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return "image/jpeg", func(b []byte) (image.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(b)) }
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return "image/gif", func(b []byte) (image.Config, error) { return gif.DecodeConfig(bytes.NewReader(b)) }
	case len(b) >= 30 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return "image/webp", webp
	}
	return "", nil
}

// webp reads the size from the first chunk of a WebP file.
func webp(b []byte) (c image.Config, err error) {
	switch string(b[12:16]) {
	case "VP8X": // both less one, in 24 bits
		c.Width, c.Height = 1+(int(b[24])|int(b[25])<<8|int(b[26])<<16), 1+(int(b[27])|int(b[28])<<8|int(b[29])<<16)
	case "VP8L": // a signature, then both less one, in 14 bits
		if b[20] != 0x2f {
			return c, ErrBroken
		}
		bits := binary.LittleEndian.Uint32(b[21:25])
		c.Width, c.Height = 1+int(bits&0x3fff), 1+int(bits>>14&0x3fff)
	case "VP8 ": // a frame's start code, then both in 14 bits
		if !bytes.Equal(b[23:26], []byte{0x9d, 0x01, 0x2a}) {
			return c, ErrBroken
		}
		c.Width, c.Height = int(binary.LittleEndian.Uint16(b[26:28])&0x3fff), int(binary.LittleEndian.Uint16(b[28:30])&0x3fff)
	default:
		return c, ErrBroken
	}
	return c, nil
}

// Kept is a picture that the folder has.
type Kept struct {
	ID    string
	Bytes int64
	At    time.Time // when it was kept last
}

// All are the pictures of the folder, by their names; other files are not looked at.
func (s *Store) All() (all []Kept, err error) {
	list, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look through the pictures: %w", err)
	}
	for _, e := range list {
		info, err := e.Info()
		if raw, herr := hex.DecodeString(e.Name()); err == nil && herr == nil && len(raw) == sha256.Size && info.Mode().IsRegular() {
			all = append(all, Kept{e.Name(), info.Size(), info.ModTime()})
		}
	}
	return all, nil
}

// Remove removes a picture that All told of, unless it was kept anew since.
func (s *Store) Remove(k Kept) error {
	path := filepath.Join(s.dir, k.ID)
	if info, err := os.Lstat(path); err != nil || !info.ModTime().Equal(k.At) {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove a picture: %w", err)
	}
	return nil
}
