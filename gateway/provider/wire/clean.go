package wire

import (
	"strings"
	"unicode"

	"github.com/hearth-assistant/hearth/internal/text"
)

// keyPrefixes begin the API keys of well-known services. Services like to
// repeat a part of the key that they refuse.
var keyPrefixes = []string{"sk-", "sk_", "pk-", "rk-", "gsk_", "xai-", "aiza", "hf_", "nvapi-", "csk-", "fw_", "r8_", "pplx-", "tgp_",
	"key-", "bearer", "eyj"}

const redacted = "[redacted]"

// Clean makes words from outside safe to show and to log: one line of valid
// UTF-8 without control or direction-changing characters, without the given
// secrets or anything that looks like an API key, at most limit bytes long.
func Clean(s string, limit int, secrets ...string) string {
	if len(s) > 64*limit {
		s = s[:64*limit]
	}
	s = strings.ToValidUTF8(s, "")
	for _, secret := range secrets {
		if len(secret) >= 4 {
			s = strings.ReplaceAll(s, secret, redacted)
		}
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r):
			return -1
		}
		return r
	}, s)
	fields := strings.Fields(s)
	for i, f := range fields {
		fields[i] = hideKey(f)
	}
	return shorten(strings.Join(fields, " "), limit)
}

// hideKey replaces a word that looks like an API key, keeping punctuation
// around it.
func hideKey(word string) string {
	start := strings.IndexFunc(word, isKeyRune)
	end := strings.LastIndexFunc(word, isKeyRune) + 1
	if start < 0 || end-start < 8 {
		return word
	}
	// key=sk-…, "url?key=AIza…": look at what follows the last separator too.
	core := word[start:end]
	for _, at := range []int{0, strings.LastIndexAny(core, "=:/\"'`") + 1} {
		part := strings.ToLower(core[at:])
		for _, p := range keyPrefixes {
			if len(part) >= 8 && strings.HasPrefix(part, p) {
				return word[:start+at] + redacted + word[end:]
			}
		}
	}
	return word
}

func isKeyRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '*'
}

// shorten cuts s to limit bytes at the end of a character.
func shorten(s string, limit int) string {
	const more = "…"
	if len(s) <= limit {
		return s
	}
	return strings.TrimRight(text.Prefix(s, limit-len(more)), " ") + more
}
