package media_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/media"
)

func encoded(t testing.TB, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White})
	var b bytes.Buffer
	if err := encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngOf(t testing.TB) []byte {
	return encoded(t, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) })
}

func webpOf(chunk string, payload ...byte) []byte {
	b := append([]byte("RIFF\x00\x00\x00\x00WEBP"+chunk+"\x0a\x00\x00\x00"), payload...)
	return append(b, make([]byte, 32)...)
}

func TestPictures(t *testing.T) {
	huge := bytes.Clone(pngOf(t))
	binary.BigEndian.PutUint32(huge[16:], 100_000)
	tests := []struct {
		name, mime string
		data       []byte
		w, h       int
		err        error
	}{
		{"png", "image/png", pngOf(t), 3, 2, nil},
		{"jpeg", "image/jpeg", encoded(t, func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }), 3, 2, nil},
		{"gif", "image/gif", encoded(t, func(b *bytes.Buffer, m image.Image) error { return gif.Encode(b, m, nil) }), 3, 2, nil},
		{"webp, lossy", "image/webp", webpOf("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 3, 0, 2, 0), 3, 2, nil},
		{"webp, lossless", "image/webp", webpOf("VP8L", 0x2f, 2, 0x40, 0, 0), 3, 2, nil},
		{"webp, extended", "image/webp", webpOf("VP8X", 0, 0, 0, 0, 2, 0, 0, 1, 0, 0), 3, 2, nil},
		{"webp, bomb", "", webpOf("VP8X", 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), 0, 0, media.ErrPixels},
		{"webp, odd", "", webpOf("VP8?"), 0, 0, media.ErrBroken},
		{"svg", "", []byte("<svg xmlns='http://www.w3.org/2000/svg'></svg>"), 0, 0, media.ErrKind},
		{"html called png", "", []byte("<html></html>"), 0, 0, media.ErrKind},
		{"empty", "", nil, 0, 0, media.ErrKind},
		{"damaged", "", pngOf(t)[:20], 0, 0, media.ErrBroken},
		{"png, changed size", "", huge, 0, 0, media.ErrBroken},
		{"large", "", make([]byte, media.MaxBytes+1), 0, 0, media.ErrLarge},
	}
	s := media.New(filepath.Join(t.TempDir(), "media"))
	for _, tt := range tests {
		p, err := s.Put(tt.data)
		if !errors.Is(err, tt.err) || p.MIME != tt.mime || p.Width != tt.w || p.Height != tt.h {
			t.Errorf("%s: %+v, %v", tt.name, p, err)
		}
		if err != nil {
			continue
		}
		if got, data, err := s.Get(p.ID); err != nil || got != p || !bytes.Equal(data, tt.data) {
			t.Errorf("%s: came back as %+v, %v", tt.name, got, err)
		}
	}
}

// A8: nothing but what was stored is read, and what was changed is not.
func TestSec_A_FILE_pictures_stay_in_their_folder(t *testing.T) {
	dir := t.TempDir()
	s := media.New(dir)
	p, err := s.Put(pngOf(t))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, p.ID))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, id := range []string{"", "..", "../x", "/etc/passwd", p.ID[:63], p.ID + "00", "zz"} {
		if _, _, err := s.Get(id); !errors.Is(err, media.ErrGone) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, p.ID), append(pngOf(t), 'x'), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Get(p.ID); !errors.Is(err, media.ErrGone) {
		t.Errorf("a changed picture: %v", err)
	}
	if _, err := s.Put(pngOf(t)); err != nil { // and is written anew
		t.Fatal(err)
	}
	if _, _, err := s.Get(p.ID); err != nil {
		t.Error(err)
	}
}

func FuzzJudge(f *testing.F) {
	f.Add(pngOf(f))
	f.Add(webpOf("VP8L", 0x2f, 2, 0x40, 0, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := media.Judge(b); err == nil && (p.Width < 1 || p.Height < 1 || p.Width*p.Height > media.MaxPixels) {
			t.Fatalf("%+v", p)
		}
	})
}
