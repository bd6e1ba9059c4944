package discovery

import (
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/miekg/dns"
)

const (
	maxLabel  = 63   // bytes of one part of a DNS name
	maxString = 255  // bytes of one "key=value"
	maxText   = 1200 // bytes of all of them: one packet
)

// escapeLabel is a name in the form in which the DNS library prints it when it
// reads the same bytes from the wire. The library below compares names as text,
// so any other spelling would never be answered.
func escapeLabel(s string) string {
	wire := append([]byte{byte(len(s))}, s...)
	out, _, err := dns.UnpackDomainName(append(wire, 0), 0)
	if err != nil {
		return s
	}
	return strings.TrimSuffix(out, ".")
}

// unescape takes \DDD and \X back.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if n, ok := threeDigits(s[i+1:]); ok {
				out = append(out, n)
				i += 3
				continue
			}
			i++
		}
		out = append(out, s[i])
	}
	return string(out)
}

func threeDigits(s string) (byte, bool) {
	if len(s) < 3 {
		return 0, false
	}
	n := 0
	for i := range 3 {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return byte(n), n < 256
}

// CleanName makes a text fit to be the name of a gateway: no control or
// direction characters, at most 63 bytes, never half a character.
func CleanName(s string) string {
	s = strings.TrimSpace(cleaned(s))
	for len(s) > maxLabel {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return strings.TrimSpace(s)
}

// cleaned drops what could play tricks with a screen.
func cleaned(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, s)
}

// numbered is the name of the n-th gateway that wants to be called name.
func numbered(name string, n int) string {
	suffix := fmt.Sprintf(" (%d)", n)
	for len(name)+len(suffix) > maxLabel {
		_, size := utf8.DecodeLastRuneInString(name)
		name = strings.TrimSpace(name[:len(name)-size])
	}
	return name + suffix
}

// encodeText makes the strings of a TXT record, in order of their keys. The DNS
// library reads backslashes as escapes when it packs them, so they are doubled.
func encodeText(m map[string]string) ([]string, error) {
	out := make([]string, 0, len(m))
	total := 0
	for k, v := range m {
		if !textKey(k) {
			return nil, fmt.Errorf("discovery: %q cannot be a key of the announcement", k)
		}
		s := k + "=" + v
		if len(s) > maxString {
			return nil, fmt.Errorf("discovery: %s of the announcement has %d bytes, at most %d are possible", k, len(s), maxString)
		}
		total += len(s) + 1
		out = append(out, strings.ReplaceAll(s, `\`, `\\`))
	}
	if total > maxText {
		return nil, fmt.Errorf("discovery: the announcement has %d bytes, at most %d are possible", total, maxText)
	}
	sort.Strings(out)
	return out, nil
}

func textKey(k string) bool {
	return k != "" && !strings.ContainsFunc(k, func(r rune) bool { return r < 0x21 || r > 0x7e || r == '=' || r == '\\' })
}

// decodeText reads the strings of somebody's TXT record; of two with one key
// the first counts (RFC 6763).
func decodeText(in []string) map[string]string {
	m := map[string]string{}
	for _, s := range in {
		k, v, _ := strings.Cut(unescape(s), "=")
		k = strings.ToLower(cleaned(k))
		if _, twice := m[k]; k != "" && !twice && len(m) < 64 {
			m[k] = strings.ToValidUTF8(v, "")
		}
	}
	return m
}
