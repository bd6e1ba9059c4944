package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
)

// turn is how stored pixels become those that are seen, by the numbers of EXIF.
type turn int

// upright: the pixels lie as they are seen.
const upright turn = 1

// turnOf is how a camera was held when it took a JPEG. Where nothing is said, or nothing
// that makes sense, the picture stays as it lies. This one number is all that is read of
// EXIF, so no library is there for it: those that are kept build tables of hundreds of
// names at the start of every program that has them.
func turnOf(data []byte) turn {
	exif := exifOf(data)
	var order binary.ByteOrder = binary.BigEndian
	if bytes.HasPrefix(exif, []byte("II")) {
		order = binary.LittleEndian
	}
	if len(exif) < 8 || !bytes.HasPrefix(exif, []byte("II")) && !bytes.HasPrefix(exif, []byte("MM")) || order.Uint16(exif[2:]) != 42 {
		return upright
	}
	at := uint64(order.Uint32(exif[4:])) // of the first list of facts, that of the picture itself
	if at+2 > uint64(len(exif)) {
		return upright
	}
	const fact, orientation, short, long = 12, 0x0112, 3, 4
	list := exif[at+2:]
	for range order.Uint16(exif[at:]) {
		if len(list) < fact {
			break
		}
		var v uint32
		switch kind, n := order.Uint16(list[2:]), order.Uint32(list[4:]); {
		case order.Uint16(list) != orientation || n != 1:
		case kind == short:
			v = uint32(order.Uint16(list[8:]))
		case kind == long:
			v = order.Uint32(list[8:])
		}
		if v >= 1 && v <= 8 {
			return turn(v)
		}
		list = list[fact:]
	}
	return upright
}

// exifOf is what a camera wrote about a JPEG, nil without it. It stands in a part of its
// own before the pixels.
func exifOf(data []byte) []byte {
	const start, app1, scan, end = 0xd8, 0xe1, 0xda, 0xd9
	if len(data) < 2 || data[0] != 0xff || data[1] != start {
		return nil
	}
	for data = data[2:]; len(data) >= 4 && data[0] == 0xff; {
		mark := data[1]
		switch {
		case mark == 0xff: // a mark may have more of them before it
			data = data[1:]
			continue
		case mark == scan || mark == end:
			return nil
		}
		size := int(binary.BigEndian.Uint16(data[2:]))
		if size < 2 || size+2 > len(data) {
			return nil
		}
		part := data[4 : size+2]
		if exif, ok := bytes.CutPrefix(part, []byte("Exif\x00\x00")); ok && mark == app1 {
			return exif
		}
		data = data[size+2:]
	}
	return nil
}

// lies reports whether what is wide is stored as what is high.
func (t turn) lies() bool { return t >= 5 }

// stored is where a pixel that is seen at x, y stands in a picture of w times h pixels.
func (t turn) stored(x, y, w, h int) (int, int) {
	switch t {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return y, h - 1 - x
	case 7:
		return w - 1 - y, h - 1 - x
	case 8:
		return w - 1 - y, x
	}
	return x, y
}

// turned is a picture as it is seen, over the pixels as they are stored.
type turned struct {
	image.Image
	by turn
}

// Bounds begin at zero.
func (p turned) Bounds() image.Rectangle {
	b := p.Image.Bounds()
	if p.by.lies() {
		return image.Rect(0, 0, b.Dy(), b.Dx())
	}
	return image.Rect(0, 0, b.Dx(), b.Dy())
}

func (p turned) At(x, y int) color.Color {
	b := p.Image.Bounds()
	x, y = p.by.stored(x, y, b.Dx(), b.Dy())
	return p.Image.At(b.Min.X+x, b.Min.Y+y)
}
