// Package picture shows pictures in a terminal: it finds out what the terminal
// can, reads a picture within limits, fits it into cells and writes it as the
// terminal wants it. It knows no gateway and no screen; package tui says where a
// picture stands and what becomes of it.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"
)

// Limits of one picture, those that the gateway has for keeping it.
const (
	maxBytes  = 5 << 20
	maxPixels = 40_000_000
)

// Why a picture is not shown; the text is for people.
var (
	ErrKind   = errors.New("this is no PNG, JPEG, GIF or WebP")
	ErrLarge  = fmt.Errorf("it has more than %d MB or %d million pixels", maxBytes>>20, maxPixels/1_000_000)
	ErrBroken = errors.New("it is damaged")
)

// kind is a format that can be read.
type kind struct {
	mime, ext string
	config    func([]byte) (image.Config, error)
	decode    func([]byte) (image.Image, error)
	turn      func([]byte) turn // nil = its pixels lie as they are seen
}

func kindOf(data []byte) *kind {
	reads := func(mime, ext string, config func(*bytes.Reader) (image.Config, error), decode func(*bytes.Reader) (image.Image, error)) *kind {
		return &kind{mime, ext, func(b []byte) (image.Config, error) { return config(bytes.NewReader(b)) },
			func(b []byte) (image.Image, error) { return decode(bytes.NewReader(b)) }, nil}
	}
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return reads("image/png", ".png", func(r *bytes.Reader) (image.Config, error) { return png.DecodeConfig(r) },
			func(r *bytes.Reader) (image.Image, error) { return png.Decode(r) })
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		k := reads("image/jpeg", ".jpg", func(r *bytes.Reader) (image.Config, error) { return jpeg.DecodeConfig(r) },
			func(r *bytes.Reader) (image.Image, error) { return jpeg.Decode(r) })
		k.turn = turnOf
		return k
	case bytes.HasPrefix(data, []byte("GIF8")): // Decode reads the first frame and no more
		return reads("image/gif", ".gif", func(r *bytes.Reader) (image.Config, error) { return gif.DecodeConfig(r) },
			func(r *bytes.Reader) (image.Image, error) { return gif.Decode(r) })
	case len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return reads("image/webp", ".webp", func(r *bytes.Reader) (image.Config, error) { return webp.DecodeConfig(r) },
			func(r *bytes.Reader) (image.Image, error) { return webp.Decode(r) })
	}
	return nil
}

// Extension is how a file of these bytes ends, by what they are and not by what
// anybody calls them; "" when they are no picture.
func Extension(data []byte) string {
	if k := kindOf(data); k != nil {
		return k.ext
	}
	return ""
}

// Decode reads a picture as it is meant to be seen. Its size is looked at before a
// pixel is.
func Decode(data []byte) (image.Image, error) {
	if len(data) > maxBytes {
		return nil, ErrLarge
	}
	k := kindOf(data)
	if k == nil {
		return nil, ErrKind
	}
	c, err := k.config(data)
	if err != nil || c.Width <= 0 || c.Height <= 0 {
		return nil, ErrBroken
	}
	most := maxPixels
	switch c.ColorModel {
	case color.RGBA64Model, color.NRGBA64Model: // eight bytes a pixel
		most /= 2
	}
	if c.Width > most || c.Height > most/c.Width {
		return nil, ErrLarge
	}
	img, err := k.decode(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	if k.turn != nil {
		if by := k.turn(data); by != upright {
			return turned{img, by}, nil
		}
	}
	return img, nil
}

// Size is a size in cells, or of one cell in pixels.
type Size struct{ W, H int }

// guess is taken for a cell where the terminal does not tell.
var guess = Size{8, 16}

// most is what the marks of rows and columns can count.
const most = 256

// Fit is how many cells a picture of w times h pixels takes: never more than it
// has pixels for, at most room, and at least one.
func Fit(w, h int, cell, room Size) Size {
	if cell.W <= 0 || cell.H <= 0 {
		cell = guess
	}
	room = Size{max(1, min(room.W, most)), max(1, min(room.H, most))}
	if w <= 0 || h <= 0 {
		return Size{1, 1}
	}
	scale := min(1, float64(room.W*cell.W)/float64(w), float64(room.H*cell.H)/float64(h))
	cells := func(pixels, one, most int) int {
		return max(1, min(most, int(float64(pixels)*scale/float64(one)+0.999)))
	}
	return Size{cells(w, cell.W, room.W), cells(h, cell.H, room.H)}
}

// Scale draws a picture as large as its cells are, in its own proportions, at the
// left and the top; what is left over stays see-through.
func Scale(img image.Image, size, cell Size) *image.NRGBA {
	if cell.W <= 0 || cell.H <= 0 {
		cell = guess
	}
	w, h := size.W*cell.W, size.H*cell.H
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	b := img.Bounds()
	scale := min(1, float64(w)/float64(b.Dx()), float64(h)/float64(b.Dy()))
	to := image.Rect(0, 0, max(1, int(float64(b.Dx())*scale+0.5)), max(1, int(float64(b.Dy())*scale+0.5)))
	if t, ok := img.(turned); ok { // made small as it is stored, for which the scaler has a quick way, and turned then
		small := image.NewNRGBA(to)
		if t.by.lies() {
			small = image.NewNRGBA(image.Rect(0, 0, to.Dy(), to.Dx()))
		}
		draw.BiLinear.Scale(small, small.Bounds(), t.Image, t.Image.Bounds(), draw.Src, nil)
		draw.Copy(out, image.Point{}, turned{small, t.by}, to, draw.Src, nil)
		return out
	}
	draw.BiLinear.Scale(out, to, img, b, draw.Src, nil)
	return out
}
