package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// gate is the rule that every request passes before anything looks at it: the
// name it was sent to is ours (DNS rebinding), a browser that may act comes
// from our own page (cross-site requests), and its path has one reading only.
type gate struct {
	hosts   map[string]bool // what may stand in Host beside the names of this machine
	origins []string
	others  func() []string // origins that may open a socket and nothing else
}

func newGate(port int, extra []string, others func() []string) *gate {
	g := &gate{hosts: make(map[string]bool), others: others}
	for _, name := range loopbackNames {
		g.origins = append(g.origins, "http://"+name+":"+strconv.Itoa(port))
	}
	for _, host := range extra {
		g.hosts[host] = true
		g.origins = append(g.origins, "http://"+host)
	}
	return g
}

// loopbackNames mean the machine that the asker is on. Nobody else can make a
// browser take another server for them, so the name alone keeps rebinding away;
// the port may be another one than ours where a tunnel (ssh -L) or a mapping leads
// here.
var loopbackNames = []string{"127.0.0.1", "localhost", "[::1]"}

// isLoopback reports whether a Host is one of them, with any port or none.
func isLoopback(host string) bool {
	for _, name := range loopbackNames {
		rest, ok := strings.CutPrefix(host, name)
		if !ok {
			continue
		}
		if rest == "" {
			return true
		}
		port, colon := strings.CutPrefix(rest, ":")
		n, err := strconv.ParseUint(port, 10, 16)
		return colon && err == nil && n > 0 && strconv.FormatUint(n, 10) == port
	}
	return false
}

// verdict is a refusal; zero status means that the request may go on.
type verdict struct {
	status int
	text   string
	json   bool
}

const otherPage = "Another page tried to use Hearth from this browser, which is not allowed. Open Hearth's own page instead."

func (g *gate) judge(r *http.Request) verdict {
	if !plainTarget(r) {
		return verdict{status: http.StatusBadRequest, text: "This address has more than one reading, so Hearth does not serve it. Open the " +
			"page at / instead."}
	}
	if !g.hosts[r.Host] && !isLoopback(r.Host) {
		return verdict{status: http.StatusMisdirectedRequest, text: "This request was sent to a name that is not Hearth's own. Open Hearth at " +
			"http://127.0.0.1 or http://localhost with its port; `hearth open` prints the address."}
	}
	acts := isUpgrade(r) || r.Method != http.MethodGet && r.Method != http.MethodHead
	if acts && forwarded(r) {
		return verdict{status: http.StatusForbidden, json: true,
			text: `{"error":{"type":"proxy_attribution_required","message":"This request came through a proxy that Hearth does not know. Connect directly to 127.0.0.1 on the machine that runs Hearth."}}`}
	}
	if origins := r.Header.Values("Origin"); acts && len(origins) > 0 && (len(origins) > 1 || !g.welcome(r, origins[0])) {
		return verdict{status: http.StatusForbidden, text: otherPage}
	}
	return verdict{}
}

// welcome reports whether a page of that origin may act: our own, also where it
// was loaded through a tunnel by another port, so that the browser says the same
// name and port twice. Pages that the owner named may open a socket, where they
// have to prove who they are, and no more.
func (g *gate) welcome(r *http.Request, origin string) bool {
	if isLoopback(r.Host) && origin == "http://"+r.Host {
		return true
	}
	socket := isUpgrade(r) && r.Method == http.MethodGet
	return slices.Contains(g.origins, origin) || socket && g.others != nil && slices.Contains(g.others(), origin)
}

// plainTarget refuses paths that a later reader could understand in another
// way: encoded separators, dots and percent signs, empty and dot segments.
func plainTarget(r *http.Request) bool {
	if len(r.RequestURI) > 4096 || !strings.HasPrefix(r.URL.Path, "/") || !utf8.ValidString(r.URL.Path) {
		return false
	}
	raw := strings.ToLower(r.URL.EscapedPath())
	if id, ok := strings.CutPrefix(raw, modelsPath); ok { // names of models have a separator, which programs encode
		raw = modelsPath + strings.ReplaceAll(id, "%2f", "/")
	}
	for _, bad := range []string{"%2f", "%5c", "%25", "%2e", "%3b", "//"} {
		if strings.Contains(raw, bad) {
			return false
		}
	}
	for _, c := range r.URL.Path {
		if c < 0x20 || c == 0x7f || c == '\\' || c == ';' {
			return false
		}
	}
	for i, segment := range strings.Split(r.URL.Path[1:], "/") {
		if strings.HasSuffix(segment, ".") {
			return false
		}
		if i == 0 && segment != strings.ToLower(segment) && programs(strings.ToLower(segment)) {
			return false
		}
	}
	return true
}

const modelsPath = "/v1/models/"

// programs reports the first part of a path that is not the page's.
func programs(segment string) bool {
	switch segment {
	case "api", "assets", "v1", "mcp":
		return true
	}
	return false
}

func isUpgrade(r *http.Request) bool { return r.Header.Get("Upgrade") != "" }

// forwarded reports a header that proxies add. Such a request may come from
// anywhere, whatever its peer address is.
func forwarded(r *http.Request) bool {
	for name := range r.Header {
		switch {
		case name == "Forwarded", name == "Via", name == "X-Real-Ip", name == "X-Client-Ip", name == "True-Client-Ip",
			name == "X-Cluster-Client-Ip", name == "X-Original-Host",
			strings.HasPrefix(name, "X-Forwarded"), strings.HasPrefix(name, "Cf-"), strings.HasPrefix(name, "Tailscale-"):
			return true
		}
	}
	return false
}

// peerOf is the address the kernel reports, never one from a header.
func peerOf(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap()
}

// isLocal: the peer is this machine, the name means this machine and nobody
// stands in between.
func (g *gate) isLocal(r *http.Request) bool {
	return r.TLS == nil && peerOf(r).IsLoopback() && isLoopback(r.Host) && !forwarded(r)
}
