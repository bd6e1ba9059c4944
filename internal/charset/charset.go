// Package charset makes text of bytes in the encodings in which people keep it: UTF-8,
// UTF-16 and the usual ones of before, which are told apart by how the letters look. It
// does not know what files hold beside text; that is gateway/document's.
package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// sampleSize is what is looked at to tell an encoding.
const sampleSize = 64 << 10

// Decode makes text of bytes, and names their encoding. It is false for what is no
// text.
func Decode(b []byte) (text, name string, ok bool) {
	utf16 := func(e unicode.Endianness) encoding.Encoding { return unicode.UTF16(e, unicode.IgnoreBOM) }
	head := b[:min(len(b), sampleSize)]
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		return string(b[3:]), "UTF-8", true
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		return with(utf16(unicode.LittleEndian), b[2:]), "UTF-16", true
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		return with(utf16(unicode.BigEndian), b[2:]), "UTF-16", true
	}
	if even, odd := zeros(head); even+odd > 0 {
		switch n := len(head) / 2; {
		case n < 4: // too little to tell
		case odd*10 > n*4 && even*20 < n:
			return with(utf16(unicode.LittleEndian), b), "UTF-16", true
		case even*10 > n*4 && odd*20 < n:
			return with(utf16(unicode.BigEndian), b), "UTF-16", true
		}
		return "", "", false
	}
	if controls(head)*50 > len(head) {
		return "", "", false
	}
	if valid(head) {
		return strings.ToValidUTF8(string(b), "\uFFFD"), "UTF-8", true
	}
	best, name := guessEncoding(head)
	return with(best, b), name, true
}

// valid is utf8.Valid for a beginning, which may end within a letter.
func valid(head []byte) bool {
	for range utf8.UTFMax - 1 {
		if utf8.Valid(head) {
			return true
		}
		if len(head) == 0 {
			return false
		}
		head = head[:len(head)-1]
	}
	return utf8.Valid(head)
}

func with(e encoding.Encoding, b []byte) string {
	out, err := e.NewDecoder().Bytes(b)
	if err != nil {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return string(out)
}

func zeros(b []byte) (even, odd int) {
	for i, c := range b {
		if c == 0 && i%2 == 0 {
			even++
		} else if c == 0 {
			odd++
		}
	}
	return even, odd
}

func controls(b []byte) (n int) {
	for _, c := range b {
		if c < 0x20 && !bytes.ContainsRune([]byte("\t\n\r\f\x1b\b"), rune(c)) || c == 0x7f {
			n++
		}
	}
	return n
}

// guessEncoding tries the usual ones, and takes the one whose text looks most like
// something that people write.
func guessEncoding(head []byte) (encoding.Encoding, string) {
	best, name, most := encoding.Encoding(charmap.Windows1252), "Windows-1252", -1.0
	for _, c := range []struct {
		e    encoding.Encoding
		name string
		of   float64 // what a likely letter counts
	}{
		{charmap.Windows1252, "Windows-1252", 1}, {simplifiedchinese.GB18030, "GB18030", 1.05}, {japanese.ShiftJIS, "Shift JIS", 1.05},
		{japanese.EUCJP, "EUC-JP", 1.1}, {traditionalchinese.Big5, "Big5", 1}, {korean.EUCKR, "EUC-KR", 1.1},
		{charmap.Windows1251, "Windows-1251", 1}, {charmap.KOI8R, "KOI8-R", 0.95},
	} {
		if s := likely(with(c.e, head)) * c.of; s > most {
			best, name, most = c.e, c.name, s
		}
	}
	return best, name
}

// likely is the share of letters outside of ASCII that are common in their script,
// less what no text has.
func likely(s string) float64 {
	score, all := 0.0, 0
	before := ' '
	for _, r := range s {
		prev := before
		before = r
		if r < 0x80 {
			continue
		}
		all++
		switch {
		case r == utf8.RuneError, r >= 0x80 && r < 0xA0, r >= 0xE000 && r <= 0xF8FF:
			score -= 3
		case r >= 0x4E00 && r <= 0x9FFF:
			score += 0.8
			if strings.ContainsRune(oftenHan, r) {
				score++
			}
			if prev|0x20 >= 'a' && prev|0x20 <= 'z' { // within a word of Latin letters
				score -= 1.5
			}
		case r >= 0x3040 && r <= 0x30FF:
			score += 1.6
		case r >= 0xAC00 && r <= 0xD7A3:
			score += 1.2
		case r >= 0x3000 && r <= 0x303F, r >= 0xFF00 && r <= 0xFF60:
			score += 0.9
		case r >= 0xFF61 && r <= 0xFF9F: // half-width kana, which almost nobody writes
			score -= 0.5
		case r >= 0x430 && r <= 0x44F:
			score++
		case r >= 0x410 && r <= 0x42F:
			score += 0.4
			if prev >= 0x430 && prev <= 0x44F { // a capital within a word
				score -= 1.2
			}
		case strings.ContainsRune("äöüßÄÖÜéèêëàâáíóúñçãõåøæœïîôûùìòœ–—‘’“”„…€•°§«»", r):
			score += 0.8
			if prev >= 0xC0 && prev < 0x180 && r < 0x180 { // two in a row are rare
				score -= 0.4
			}
		default:
			score -= 0.3
		}
	}
	if all == 0 {
		return 0
	}
	return score / float64(all)
}

// oftenHan are some of the most frequent characters, simplified, traditional and Japanese.
const oftenHan = "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日" +
	"於起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长這個們來說為時會對沒還發當無開見經頭動兩長國過學" +
	"後麼本日人年大十二中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨"
