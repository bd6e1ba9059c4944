package meta

import (
	"go/ast"
	"slices"
)

// dialers are the rooms that may open connections: egress for all that leaves,
// client for our own gateway, and the programs of build.
var dialers = []string{"gateway/egress", "gateway/client", "gateway/channel/telegram/telegramtest", "build"}

// oneWayOut finds connections that do not go through gateway/egress, where
// their addresses are checked (A-SSRF-07).
func oneWayOut(files []*file) []string {
	var out []string
	for _, f := range files {
		if f.test || below(f.dir, dialers) {
			continue
		}
		for _, n := range slices.Concat(
			f.mentions("net", "Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "Dialer"),
			f.mentions("net/http", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm", "Transport"),
			f.mentions("crypto/tls", "Dial", "DialWithDialer", "Dialer"),
		) {
			out = append(out, f.at(n)+": a connection of its own: go through gateway/egress")
		}
	}
	return out
}

// mentions returns the uses of pkg.name in the file, as a call or as a type.
func (f *file) mentions(pkg string, names ...string) []ast.Node {
	local := f.localName(pkg)
	if local == "" {
		return nil
	}
	var out []ast.Node
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == local && slices.Contains(names, sel.Sel.Name) {
				out = append(out, n)
			}
		}
		return true
	})
	return out
}
