package picture

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/iterm2"
	"github.com/charmbracelet/x/ansi/kitty"
	"github.com/charmbracelet/x/ansi/sixel"
)

// Transmit gives kitty a picture that its placeholders show, or that Put shows
// when it is only placed. Inside of tmux it is handed on.
func Transmit(m Means, number int, img image.Image, size Size, inTmux bool) (string, error) {
	o := kitty.Options{Action: kitty.Transmit, ID: number, Format: kitty.PNG, Transmission: kitty.Direct, Quiet: 2, Chunk: true}
	if m == Kitty {
		o.Action, o.VirtualPlacement, o.Columns, o.Rows = kitty.TransmitAndPut, true, size.W, size.H
	}
	if inTmux {
		o.ChunkFormatter = ansi.TmuxPassthrough
	}
	var b bytes.Buffer
	if err := kitty.EncodeGraphics(&b, img, &o); err != nil {
		return "", fmt.Errorf("write the picture for the terminal: %w", err)
	}
	return b.String(), nil
}

// Put shows some rows of a picture that kitty has at the place of the first of
// them; gone takes them away again.
func Put(number int, size, cell Size, from, rows int) (put, gone string) {
	placement := from*most + rows // of this picture
	o := kitty.Options{
		Action: kitty.Put, ID: number, PlacementID: placement, Columns: size.W, Rows: rows, Quiet: 2, DoNotMoveCursor: true,
		Y: from * cell.H, Width: size.W * cell.W, Height: rows * cell.H,
	}
	return ansi.KittyGraphics(nil, o.Options()...),
		ansi.KittyGraphics(nil, "a=d", "d=i", fmt.Sprint("i=", number), fmt.Sprint("p=", placement), "q=2")
}

// Forget takes a picture from kitty, data and all.
func Forget(number int, inTmux bool) string {
	s := ansi.KittyGraphics(nil, "a=d", "d=I", fmt.Sprint("i=", number), "q=2")
	if inTmux {
		return ansi.TmuxPassthrough(s)
	}
	return s
}

// Piece is some rows of a scaled picture for a terminal that draws over its
// cells: what is written at the place of the first of them.
func Piece(m Means, img *image.NRGBA, size Size, from, rows int) (string, error) {
	cell := img.Bounds().Dy() / size.H
	part := img.SubImage(image.Rect(0, from*cell, img.Bounds().Dx(), (from+rows)*cell))
	var b bytes.Buffer
	if m == ITerm {
		if err := png.Encode(&b, part); err != nil {
			return "", fmt.Errorf("write the picture for the terminal: %w", err)
		}
		return ansi.ITerm2(iterm2.File{
			Size: int64(b.Len()), Inline: true, IgnoreAspectRatio: true, DoNotMoveCursor: true,
			Width: iterm2.Cells(size.W), Height: iterm2.Cells(rows), Content: []byte(base64.StdEncoding.EncodeToString(b.Bytes())),
		}), nil
	}
	if err := new(sixel.Encoder).Encode(&b, opaque(part)); err != nil {
		return "", fmt.Errorf("write the picture for the terminal: %w", err)
	}
	// A line end behind the last band would move the cursor below the picture.
	return ansi.SixelGraphics(0, 1, 0, bytes.TrimSuffix(b.Bytes(), []byte{sixel.LineBreak})), nil
}

// opaque makes every pixel whole or none: sixel knows nothing between.
func opaque(img image.Image) image.Image {
	r := img.Bounds()
	out := image.NewNRGBA(image.Rect(0, 0, r.Dx(), r.Dy()))
	in, ok := img.(*image.NRGBA)
	if !ok {
		return img
	}
	for y := range r.Dy() {
		for x := range r.Dx() {
			if c := in.NRGBAAt(r.Min.X+x, r.Min.Y+y); c.A >= 128 {
				c.A = 255
				out.SetNRGBA(x, y, c)
			}
		}
	}
	return out
}

// HalfBlocks draws a picture by the upper halves of cells, in two true colours each.
func HalfBlocks(img image.Image, size Size) []string {
	small := Scale(img, size, Size{1, 2})
	lines := make([]string, size.H)
	for y := range lines {
		var b strings.Builder
		last := ""
		for x := range size.W {
			look, cell := half(small, x, 2*y)
			if look != last {
				b.WriteString("\x1b[0" + look + "m")
				last = look
			}
			b.WriteString(cell)
		}
		b.WriteString("\x1b[0m")
		lines[y] = b.String()
	}
	return lines
}

// half is one cell of two pixels. Where a pixel is see-through the terminal's own
// background stays.
func half(img *image.NRGBA, x, y int) (look, cell string) {
	up, low := img.NRGBAAt(x, y), img.NRGBAAt(x, y+1)
	paint := func(what, r, g, b uint8) string { return fmt.Sprintf(";%d;2;%d;%d;%d", what, r, g, b) }
	switch {
	case up.A < 128 && low.A < 128:
		return "", " "
	case low.A < 128:
		return paint(38, up.R, up.G, up.B), "▀"
	case up.A < 128:
		return paint(38, low.R, low.G, low.B), "▄"
	}
	return paint(38, up.R, up.G, up.B) + paint(48, low.R, low.G, low.B), "▀"
}
