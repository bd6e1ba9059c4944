package envelope

import "unicode"

// fold maps a character to the plain small letter that people take it for, if
// there is one. It covers full-width, mathematical, circled and regional
// letters and the Cyrillic and Greek ones that look Latin.
func fold(r rune) rune {
	switch {
	case r < 0x80:
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	case r >= 0xFF01 && r <= 0xFF5E:
		return fold(r - 0xFEE0)
	case r >= 0x1D400 && r <= 0x1D6A3:
		return 'a' + (r-0x1D400)%26
	case r >= 0x24B6 && r <= 0x24E9:
		return 'a' + (r-0x24B6)%26
	case r >= 0x249C && r <= 0x24B5:
		return 'a' + r - 0x249C
	case r >= 0x1F110 && r <= 0x1F189:
		return 'a' + (r-0x1F110)%32%26
	case r >= 0x1F1E6 && r <= 0x1F1FF:
		return 'a' + r - 0x1F1E6
	}
	return lookalike(unicode.ToLower(r))
}

// lookalike knows Cyrillic, Greek, phonetic and accented letters.
func lookalike(r rune) rune {
	switch r {
	case 'а', 'α', 'ɑ', 'ᴀ', 'á', 'à', 'â', 'ä', 'ã', 'å', 'ā':
		return 'a'
	case 'в', 'ʙ':
		return 'b'
	case 'с', 'ᴄ', 'ç':
		return 'c'
	case 'ԁ', 'ᴅ':
		return 'd'
	case 'е', 'ε', 'ᴇ', 'é', 'è', 'ê', 'ë', 'ē', 'ℯ':
		return 'e'
	case 'ɡ', 'ɢ', 'ℊ':
		return 'g'
	case 'һ', 'н', 'ʜ', 'ℎ':
		return 'h'
	case 'і', 'ι', 'ı', 'ɩ', 'í', 'ì', 'î', 'ï', 'ī', 'ℹ':
		return 'i'
	case 'ј', 'ᴊ':
		return 'j'
	case 'к', 'κ', 'ᴋ':
		return 'k'
	case 'ӏ', 'ʟ', 'ℓ':
		return 'l'
	case 'м', 'ᴍ':
		return 'm'
	case 'п', 'η', 'ɴ', 'ñ':
		return 'n'
	case 'о', 'ο', 'σ', 'ᴏ', 'ó', 'ò', 'ô', 'ö', 'õ', 'ø', 'ō', 'ℴ':
		return 'o'
	case 'р', 'ρ', 'ᴘ':
		return 'p'
	case 'ԛ':
		return 'q'
	case 'г', 'ʀ':
		return 'r'
	case 'ѕ', 'ꜱ', 'š':
		return 's'
	case 'т', 'τ', 'ᴛ':
		return 't'
	case 'υ', 'ᴜ', 'ú', 'ù', 'û', 'ü', 'ū':
		return 'u'
	case 'ν', 'ᴠ':
		return 'v'
	case 'ԝ', 'ω', 'ᴡ':
		return 'w'
	case 'х':
		return 'x'
	case 'у', 'γ', 'ʏ', 'ý', 'ÿ':
		return 'y'
	case 'ᴢ', 'ž':
		return 'z'
	}
	return r
}
