package document

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"
)

// media names sound, film and pictures, and what else has a known beginning. notes
// are what their heads tell.
func media(head, data []byte) (kind string, notes []string, ok bool) {
	is := func(at int, s string) bool { return len(head) >= at+len(s) && string(head[at:at+len(s)]) == s }
	switch {
	case is(0, "RIFF") && is(8, "WAVE"):
		return Audio, append([]string{"WAV"}, lasting(wave(data))...), true
	case is(0, "ID3"), len(head) > 2 && head[0] == 0xff && head[1]&0xe6 == 0xe2 && head[2] != 0:
		return Audio, []string{"MP3"}, true
	case is(0, "OggS"):
		name := "Ogg"
		if bytes.Contains(head, []byte("OpusHead")) {
			name = "Opus"
		}
		return Audio, []string{name}, true
	case is(0, "fLaC"):
		return Audio, append([]string{"FLAC"}, lasting(flac(head))...), true
	case is(0, "#!AMR"):
		return Audio, []string{"AMR"}, true
	case is(4, "ftyp"):
		return isoMedia(head, data)
	case is(0, "\x1a\x45\xdf\xa3"):
		return Video, []string{"Matroska or WebM"}, true
	case is(0, "RIFF") && is(8, "AVI "):
		return Video, []string{"AVI"}, true
	case is(0, "\x89PNG\r\n\x1a\n"), is(0, "\xff\xd8\xff"), is(0, "GIF8"), is(0, "RIFF") && is(8, "WEBP"),
		is(0, "BM") && is(6, "\x00\x00\x00\x00"),
		is(0, "II*\x00"), is(0, "MM\x00*"):
		return Picture, nil, true
	case is(0, "7z\xbc\xaf\x27\x1c"):
		return Archive, []string{"7-Zip; its content is not listed"}, true
	case is(0, "Rar!\x1a\x07"):
		return Archive, []string{"RAR; its content is not listed"}, true
	case is(0, "BZh"), is(0, "\xfd7zXZ\x00"), is(0, "\x28\xb5\x2f\xfd"):
		return Archive, []string{"packed; its content is not listed"}, true
	case is(0, "\x7fELF"), is(0, "MZ"), is(0, "\xcf\xfa\xed\xfe"), is(0, "\xca\xfe\xba\xbe"):
		return Unknown, []string{"a program"}, true
	case is(0, "SQLite format 3\x00"):
		return Unknown, []string{"an SQLite database"}, true
	}
	return "", nil, false
}

func lasting(d time.Duration) []string {
	if d <= 0 || d > 1000*time.Hour {
		return nil
	}
	d = d.Round(time.Second)
	return []string{fmt.Sprintf("%d:%02d:%02d long", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)}
}

// wave is how long a WAV file lasts, 0 when it does not say so.
func wave(b []byte) time.Duration {
	rate := uint32(0)
	for i := 12; i+8 <= len(b); {
		size := int(binary.LittleEndian.Uint32(b[i+4:]))
		switch {
		case string(b[i:i+4]) == "fmt " && i+20 <= len(b):
			rate = binary.LittleEndian.Uint32(b[i+16:])
		case string(b[i:i+4]) == "data" && rate > 0:
			return time.Duration(float64(size) / float64(rate) * float64(time.Second))
		}
		if size < 0 || size > len(b) {
			return 0
		}
		i += 8 + size + size%2
	}
	return 0
}

func flac(b []byte) time.Duration {
	if len(b) < 26 {
		return 0
	}
	rate := uint64(b[18])<<12 | uint64(b[19])<<4 | uint64(b[20])>>4
	samples := uint64(b[21]&0x0f)<<32 | uint64(binary.BigEndian.Uint32(b[22:]))
	if rate == 0 {
		return 0
	}
	return time.Duration(float64(samples) / float64(rate) * float64(time.Second))
}

// isoMedia tells the files apart that are made of boxes: MP4, MOV, M4A, HEIC.
func isoMedia(head, data []byte) (kind string, notes []string, ok bool) {
	switch brand := string(head[8:min(12, len(head))]); brand {
	case "heic", "heix", "mif1", "avif":
		return Picture, nil, true
	case "M4A ", "M4B ":
		return Audio, append([]string{"M4A"}, lasting(movie(data, 0))...), true
	default:
		return Video, append([]string{"MP4 or MOV"}, lasting(movie(data, 0))...), true
	}
}

// movie looks for the box mvhd in moov.
func movie(b []byte, depth int) time.Duration {
	for len(b) >= 8 {
		size, name := int(binary.BigEndian.Uint32(b)), string(b[4:8])
		switch {
		case size == 0:
			size = len(b)
		case size == 1 && len(b) >= 16:
			if n := binary.BigEndian.Uint64(b[8:]); n < uint64(len(b)) {
				size = int(n)
			} else {
				return 0
			}
		}
		if size < 8 || size > len(b) {
			return 0
		}
		body := b[8:size]
		switch {
		case name == "moov" && depth == 0:
			return movie(body, 1)
		case name == "mvhd" && len(body) >= 20 && body[0] == 0:
			return seconds(binary.BigEndian.Uint32(body[12:]), uint64(binary.BigEndian.Uint32(body[16:])))
		case name == "mvhd" && len(body) >= 32 && body[0] == 1:
			return seconds(binary.BigEndian.Uint32(body[20:]), binary.BigEndian.Uint64(body[24:]))
		}
		b = b[size:]
	}
	return 0
}

func seconds(scale uint32, n uint64) time.Duration {
	if scale == 0 {
		return 0
	}
	return time.Duration(float64(n) / float64(scale) * float64(time.Second))
}
