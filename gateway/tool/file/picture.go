package file

import (
	"bytes"
	"encoding/binary"
)

func isPicture(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// dimensions reads how large a picture is from its head, without decoding it.
func dimensions(head []byte, mime string) (w, h int, ok bool) {
	switch {
	case mime == "image/png" && len(head) >= 24 && string(head[12:16]) == "IHDR":
		w, h = int(binary.BigEndian.Uint32(head[16:])), int(binary.BigEndian.Uint32(head[20:]))
	case mime == "image/gif" && len(head) >= 10:
		w, h = int(binary.LittleEndian.Uint16(head[6:])), int(binary.LittleEndian.Uint16(head[8:]))
	case mime == "image/webp" && len(head) >= 30:
		w, h = webp(head)
	case mime == "image/jpeg":
		w, h = jpeg(head)
	}
	return w, h, w > 0 && h > 0
}

func webp(head []byte) (w, h int) {
	switch string(head[12:16]) {
	case "VP8 ":
		if bytes.Equal(head[23:26], []byte{0x9d, 0x01, 0x2a}) {
			return int(binary.LittleEndian.Uint16(head[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(head[28:]) & 0x3fff)
		}
	case "VP8L":
		bits := binary.LittleEndian.Uint32(head[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		three := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
		return three(head[24:]) + 1, three(head[27:]) + 1
	}
	return 0, 0
}

// jpeg looks for the frame header among the segments.
func jpeg(head []byte) (w, h int) {
	for i := 2; i+9 <= len(head) && head[i] == 0xff; {
		kind := head[i+1]
		switch {
		case kind == 0xff:
			i++
			continue
		case kind >= 0xc0 && kind <= 0xcf && kind != 0xc4 && kind != 0xc8 && kind != 0xcc:
			return int(binary.BigEndian.Uint16(head[i+7:])), int(binary.BigEndian.Uint16(head[i+5:]))
		}
		i += 2 + int(binary.BigEndian.Uint16(head[i+2:]))
	}
	return 0, 0
}
