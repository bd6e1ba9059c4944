package pdf

import (
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// latin are the names of the glyphs of Latin-1 from 0xA1 on, in its order.
const latin = "exclamdown cent sterling currency yen brokenbar section dieresis copyright ordfeminine guillemotleft logicalnot hyphen " +
	"registered macron degree plusminus twosuperior threesuperior acute mu paragraph periodcentered cedilla onesuperior ordmasculine " +
	"guillemotright onequarter onehalf threequarters questiondown Agrave Aacute Acircumflex Atilde Adieresis Aring AE Ccedilla Egrave " +
	"Eacute Ecircumflex Edieresis Igrave Iacute Icircumflex Idieresis Eth Ntilde Ograve Oacute Ocircumflex Otilde Odieresis multiply " +
	"Oslash Ugrave Uacute Ucircumflex Udieresis Yacute Thorn germandbls agrave aacute acircumflex atilde adieresis aring ae ccedilla " +
	"egrave eacute ecircumflex edieresis igrave iacute icircumflex idieresis eth ntilde ograve oacute ocircumflex otilde odieresis " +
	"divide oslash ugrave uacute ucircumflex udieresis yacute thorn ydieresis"

// ascii are the names of those from 0x20 on that are no letters.
const ascii = "space=  exclam=! quotedbl=\" numbersign=# dollar=$ percent=% ampersand=& quotesingle=' parenleft=( " +
	"parenright=) asterisk=* " +
	"plus=+ comma=, minus=− period=. slash=/ zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 colon=: semicolon=; " +
	"less=< equal== greater=> question=? at=@ bracketleft=[ backslash=\\ bracketright=] asciicircum=^ underscore=_ grave=` braceleft={ " +
	"bar=| braceright=} asciitilde=~ quoteleft=‘ quoteright=’ quotedblleft=“ quotedblright=” quotesinglbase=‚ quotedblbase=„ endash=– " +
	"emdash=— bullet=• ellipsis=… dagger=† daggerdbl=‡ perthousand=‰ guilsinglleft=‹ guilsinglright=› Euro=€ trademark=™ OE=Œ oe=œ " +
	"Scaron=Š scaron=š Zcaron=Ž zcaron=ž Ydieresis=Ÿ florin=ƒ fi=fi fl=fl ff=ff ffi=ffi ffl=ffl dotlessi=ı Lslash=Ł lslash=ł fraction=⁄ " +
	"circumflex=ˆ tilde=˜ caron=ˇ breve=˘ dotaccent=˙ ring=˚ ogonek=˛ hungarumlaut=˝ lessequal=≤ greaterequal=≥ notequal=≠ " +
	"approxequal=≈ infinity=∞ partialdiff=∂ summation=∑ product=∏ integral=∫ radical=√ lozenge=◊ Delta=Δ Omega=Ω pi=π alpha=α beta=β " +
	"gamma=γ delta=δ epsilon=ε lambda=λ sigma=σ theta=θ phi=φ omega=ω Gamma=Γ Lambda=Λ Sigma=Σ Phi=Φ arrowright=→ arrowleft=← " +
	"Cacute=Ć cacute=ć Ccaron=Č ccaron=č Dcaron=Ď dcaron=ď Dcroat=Đ dcroat=đ Ecaron=Ě ecaron=ě Eogonek=Ę eogonek=ę Aogonek=Ą aogonek=ą " +
	"Nacute=Ń nacute=ń Ncaron=Ň ncaron=ň Rcaron=Ř rcaron=ř Sacute=Ś sacute=ś Tcaron=Ť tcaron=ť Uring=Ů uring=ů Zacute=Ź zacute=ź " +
	"Zdotaccent=Ż zdotaccent=ż Gbreve=Ğ gbreve=ğ Idotaccent=İ Scedilla=Ş scedilla=ş Abreve=Ă abreve=ă Ohungarumlaut=Ő ohungarumlaut=ő " +
	"Uhungarumlaut=Ű uhungarumlaut=ű nbspace=  sfthyphen=-"

// named is the letter that a glyph's name stands for, "" when it tells none.
func named(name string) string {
	base, _, _ := strings.Cut(name, ".") // what follows is a form of it
	if len(base) == 1 {
		return base
	}
	for _, head := range []string{"uni", "u"} {
		if hex, ok := strings.CutPrefix(base, head); ok && len(hex) >= 4 {
			if n, err := strconv.ParseUint(hex[:min(len(hex), 6)], 16, 21); err == nil && (head == "u" || len(hex) == 4) {
				return string(rune(n))
			}
		}
	}
	if base == "hyphen" {
		return "-"
	}
	for i, n := range strings.Fields(latin) {
		if n == base {
			return string(charmap.ISO8859_1.DecodeByte(byte(0xA1 + i)))
		}
	}
	if _, rest, ok := strings.Cut(" "+ascii, " "+base+"="); ok && base != "" {
		if strings.HasPrefix(rest, " ") {
			return " "
		}
		s, _, _ := strings.Cut(rest, " ")
		return s
	}
	return ""
}
