package egress

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/hearth-assistant/hearth/internal/text"
)

const maxURL = 8 << 10

// ports are what web sites use; the others are mail servers, databases and
// machines that were not meant to be asked.
var ports = map[int]bool{80: true, 443: true, 8080: true, 8443: true}

// Parse reads a web address that somebody else chose, strictly: what two
// programs could read in two ways is refused rather than mended. The host of
// the result is in its ASCII form.
func Parse(raw string) (*url.URL, error) {
	u, err := read(raw)
	if err != nil {
		return nil, err
	}
	return u, check(u)
}

// read is Parse that does not decide whether the host may be reached.
func read(raw string) (*url.URL, error) {
	refuse := func(reason string) (*url.URL, error) { return nil, &ForbiddenError{Host: clip(raw), Reason: reason} }
	switch {
	case raw == "":
		return refuse("it is empty")
	case len(raw) > maxURL:
		return refuse(fmt.Sprintf("it is longer than %d bytes", maxURL))
	case !utf8.ValidString(raw):
		return refuse("it is not text")
	case strings.ContainsFunc(raw, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == '\\' || r == '\u00a0' || r == '\ufeff' || (r >= 0x2000 && r <= 0x200f) ||
			(r >= 0x2028 && r <= 0x202f)
	}):
		return refuse("it holds spaces, backslashes or invisible characters")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return refuse("it is not a web address")
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return refuse("only addresses that start with http:// or https:// can be fetched")
	}
	if u.Opaque != "" || !strings.HasPrefix(strings.ToLower(raw), u.Scheme+"://") {
		return refuse("it is not a web address")
	}
	u.Fragment, u.RawFragment = "", ""
	if err := normalize(u); err != nil {
		return nil, err
	}
	return u, nil
}

// normalize puts the host into the form that name servers use.
func normalize(u *url.URL) error {
	host := u.Hostname()
	if strings.Contains(host, "%") {
		return &ForbiddenError{Host: u.Host, Reason: "its host holds an escape or a zone"}
	}
	if !strings.Contains(host, ":") {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return &ForbiddenError{Host: u.Host, Reason: "its host is not a name that exists in the domain name system"}
		}
		host = strings.TrimSuffix(ascii, ".")
	}
	switch port := u.Port(); {
	case strings.Contains(host, ":"):
		u.Host = "[" + host + "]"
		if port != "" {
			u.Host += ":" + port
		}
	case port != "":
		u.Host = host + ":" + port
	default:
		u.Host = host
	}
	return nil
}

// check decides on everything of an address that can be decided before its
// name is resolved.
func check(u *url.URL) error {
	refuse := func(format string, a ...any) error {
		return &ForbiddenError{Host: clip(u.Host), Reason: fmt.Sprintf(format, a...)}
	}
	host := strings.ToLower(u.Hostname())
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return refuse("only addresses that start with http:// or https:// can be fetched")
	case u.User != nil:
		return refuse("it holds a user name, which hides the real host from a reader")
	case host == "" || strings.HasPrefix(host, ".") || strings.HasSuffix(host, ".") || strings.Contains(host, ".."):
		return refuse("it names no host")
	case u.Port() != "" && !ports[portOf(u)]:
		return refuse("web sites are fetched on the ports 80, 443, 8080 and 8443 only")
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if !public(ip) {
			return refuse("it is an address of this machine or of a private network")
		}
		return nil
	}
	if strings.Contains(host, ":") || numeric(host) {
		return refuse("its host is a number in a spelling that is not an address")
	}
	if localName(host) {
		return refuse("it names this machine or a private network")
	}
	return nil
}

// numeric reports whether the last label of a host is a number, which some
// programs read as an address in octal, hexadecimal or with parts left out.
func numeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if strings.HasPrefix(last, "0x") {
		return true
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// localName tells names that never lead to a public web site.
func localName(host string) bool {
	if !strings.Contains(host, ".") {
		return true // localhost, a router, a neighbour
	}
	for _, top := range []string{".localhost", ".local", ".internal", ".intranet", ".lan", ".home", ".corp", ".private", ".home.arpa"} {
		if strings.HasSuffix(host, top) {
			return true
		}
	}
	return false
}

// portOf is the port of an address, 0 when it is not a number.
func portOf(u *url.URL) int {
	switch p := u.Port(); {
	case p != "":
		n, _ := strconv.Atoi(p)
		return n
	case u.Scheme == "https":
		return 443
	}
	return 80
}

// clip keeps what is repeated in an error short and harmless.
func clip(s string) string {
	return text.Ellipsis(strings.ToValidUTF8(s, "?"), 200)
}
