package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"testing"
)

// sides are where the first row and the first column of the stored pixels are seen, in
// the words of the EXIF standard.
var sides = map[turn][2]string{
	1: {"top", "left"}, 2: {"top", "right"}, 3: {"bottom", "right"}, 4: {"bottom", "left"},
	5: {"left", "top"}, 6: {"right", "top"}, 7: {"right", "bottom"}, 8: {"left", "bottom"},
}

// quarter is what the tests' picture shows at a place: another colour in each quarter.
func quarter(x, y int) color.RGBA {
	return map[[2]bool]color.RGBA{
		{false, false}: {255, 0, 0, 255}, {true, false}: {0, 255, 0, 255}, {false, true}: {0, 0, 255, 255}, {true, true}: {255, 255, 255, 255},
	}[[2]bool{x >= seenW/2, y >= seenH/2}]
}

const seenW, seenH = 96, 64

// held is that picture as a camera stores it that was held in some way.
func held(by turn) image.Image {
	row, column := sides[by][0], sides[by][1]
	w, h := seenW, seenH
	if column == "top" || column == "bottom" {
		w, h = h, w
	}
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for r := range h {
		for c := range w {
			at := map[string]int{} // how far from a side of the picture that is seen
			at[row], at[column] = r, c
			x, ok := at["left"]
			if !ok {
				x = seenW - 1 - at["right"]
			}
			y, ok := at["top"]
			if !ok {
				y = seenH - 1 - at["bottom"]
			}
			img.SetRGBA(c, r, quarter(x, y))
		}
	}
	return img
}

// camera is a JPEG as cameras write it, with an orientation of a type (3 = two bytes,
// 4 = four) and that of the small picture inside behind it.
func camera(t *testing.T, img image.Image, order binary.AppendByteOrder, kind uint16, by uint32) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	mark := "MM"
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		mark = "II"
	}
	exif := []byte(mark)
	exif = order.AppendUint32(order.AppendUint16(exif, 42), 8)
	list := func(kind uint16, value, next uint32) {
		exif = order.AppendUint16(exif, 1)
		exif = order.AppendUint32(order.AppendUint16(order.AppendUint16(exif, 0x0112), kind), 1)
		if kind == 3 {
			exif = order.AppendUint16(order.AppendUint16(exif, uint16(value)), 0)
		} else {
			exif = order.AppendUint32(exif, value)
		}
		exif = order.AppendUint32(exif, next)
	}
	list(kind, by, 26)
	list(3, 3, 0)
	head := append([]byte("\xff\xd8\xff\xe1"), binary.BigEndian.AppendUint16(nil, uint16(len(exif)+8))...)
	return append(append(append(head, "Exif\x00\x00"...), exif...), b.Bytes()[2:]...)
}

// However a camera was held, its picture is seen as it was taken: whole, and made
// small in colours and in half blocks.
func TestPhotosStandUpright(t *testing.T) {
	near := func(got color.Color, want color.RGBA) bool {
		g := color.RGBAModel.Convert(got).(color.RGBA)
		off := func(a, b uint8) bool { return max(a, b)-min(a, b) > 40 }
		return !off(g.R, want.R) && !off(g.G, want.G) && !off(g.B, want.B)
	}
	places := []image.Point{{10, 10}, {seenW - 10, 10}, {10, seenH - 10}, {seenW - 10, seenH - 10}}
	for by := turn(1); by <= 8; by++ {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			img, err := Decode(camera(t, held(by), order, 3, uint32(by)))
			if err != nil || img.Bounds() != image.Rect(0, 0, seenW, seenH) {
				t.Fatalf("%d, %v: %v, %v", by, order, img, err)
			}
			small := Scale(img, Size{6, 2}, Size{8, 16})
			if small.Bounds() != image.Rect(0, 0, 48, 32) {
				t.Fatalf("%d: %v", by, small.Bounds())
			}
			for _, p := range places {
				if want := quarter(p.X, p.Y); !near(img.At(p.X, p.Y), want) || !near(small.At(p.X/2, p.Y/2), want) {
					t.Errorf("%d, %v: at %v it is %v, and small %v, not %v", by, order, p, img.At(p.X, p.Y), small.At(p.X/2, p.Y/2), want)
				}
			}
		}
	}
}

// What makes no sense turns nothing, and a small picture inside does not turn the
// large one.
func TestTurnsThatMakeNoSense(t *testing.T) {
	var plain bytes.Buffer
	if err := jpeg.Encode(&plain, held(upright), nil); err != nil {
		t.Fatal(err)
	}
	whole := camera(t, held(upright), binary.LittleEndian, 3, 6)
	swap := func(from, to string) []byte { return bytes.Replace(whole, []byte(from), []byte(to), 1) }
	for name, c := range map[string]struct {
		data []byte
		want turn
	}{
		"none":                {plain.Bytes(), upright},
		"zero":                {camera(t, held(upright), binary.BigEndian, 3, 0), upright},
		"nine":                {camera(t, held(upright), binary.BigEndian, 3, 9), upright},
		"large":               {camera(t, held(upright), binary.BigEndian, 4, 1<<31), upright},
		"four bytes":          {camera(t, held(upright), binary.BigEndian, 4, 8), 8},
		"six":                 {whole, 6},
		"no order":            {swap("II*\x00", "XX*\x00"), upright},
		"a list far away":     {swap("II*\x00\x08\x00\x00\x00", "II*\x00\xff\xff\xff\x7f"), upright},
		"a list in itself":    {swap("\x1a\x00\x00\x00", "\x08\x00\x00\x00"), 6},
		"only the small ones": {swap("\x12\x01\x03\x00\x01\x00\x00\x00\x06", "\x13\x01\x03\x00\x01\x00\x00\x00\x06"), upright},
		"cut off":             {whole[:40], upright},
	} {
		if got := turnOf(c.data); got != c.want {
			t.Errorf("%s: %d", name, got)
		}
	}
}
