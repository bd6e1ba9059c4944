package meta

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// doors are the rooms that may open a port. Who comes in by one of them shows a
// token, a signature or a one-time state; nobody is believed for having found it.
var doors = []string{"gateway/server", "app/cli", "app/desktoptest", "gateway/reach", "gateway/provider/oauth", "discovery",
	"gateway/channel/telegram/telegramtest", "internal/netlab", "internal/freeport", "build"}

// TestSec_A_NET_26_NoDoorsOfThisMachineOnly: there is no socket file and no named
// pipe that another person of this machine could come in by, and no room but the
// listed ones listens at all. A new one belongs here with what checks its peer.
func TestSec_A_NET_26_NoDoorsOfThisMachineOnly(t *testing.T) {
	listens := 0
	for _, f := range repository(t) {
		if f.test {
			continue
		}
		for _, n := range slices.Concat(
			f.mentions("net", "Listen", "ListenTCP", "ListenUnix", "ListenUnixgram", "ListenPacket", "ListenUDP", "ListenMulticastUDP",
				"ListenConfig", "FileListener"),
			f.mentions("net/http", "ListenAndServe", "ListenAndServeTLS"),
		) {
			if listens++; !below(f.dir, doors[1:]) && f.dir != doors[0] {
				t.Errorf("%s: only %s open ports", f.at(n), strings.Join(doors, ", "))
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && !strings.HasSuffix(f.dir, "test") &&
				!below(f.dir, []string{"build"}) {
				if s, err := strconv.Unquote(lit.Value); err == nil && (slices.Contains([]string{"unix", "unixgram", "unixpacket"}, s) ||
					strings.Contains(s, `\\.\pipe\`)) {
					t.Errorf("%s: a door of this machine only: it has to check who is at the other end", f.at(n))
				}
			}
			return true
		})
	}
	if listens < 3 {
		t.Errorf("%d places listen; has the notation changed?", listens)
	}
}

// backtracking are libraries whose patterns can take for ever; the standard one's
// cannot.
var backtracking = regexp.MustCompile(`(?i)regexp2|pcre|onigur|hyperscan|/re2/`)

// TestSec_A_DOS_07_PatternsAreOursAndLinear: patterns are compiled by the standard
// library, whose matching is linear in the text, and they are constants: nobody
// else's pattern runs in the gateway. (Those of programs in code mode run in their
// machine, which can be stopped.) One is the owner's: which lines of a program count,
// at most 1,000 bytes on lines of at most 64 KB (package feature/cron).
func TestSec_A_DOS_07_PatternsAreOursAndLinear(t *testing.T) {
	patterns := 0
	for _, f := range repository(t) {
		if f.test {
			continue
		}
		for _, to := range f.imports() {
			if backtracking.MatchString(to) {
				t.Errorf("%s imports %s, whose patterns backtrack", f.path, to)
			}
		}
		if f.path == "gateway/feature/cron/spec_events.go" {
			continue
		}
		for _, n := range f.mentions("regexp", "Compile", "CompilePOSIX", "Match", "MatchString", "MatchReader") {
			t.Errorf("%s: a pattern that is made while Hearth runs; if somebody else writes it, cap its size and say so here", f.at(n))
		}
		local := f.localName("regexp")
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || local == "" {
				return true
			}
			if made := phrase(call); made != nil && f.dir == "gateway/when" {
				if patterns++; !fixed(made) {
					t.Errorf("%s: a phrase that is no constant", f.at(n))
				}
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if x, isName := selector(sel); !ok || !isName || x != local || sel.Sel.Name != "MustCompile" {
				return true
			}
			if patterns++; !fixed(call.Args[0]) && f.path != "gateway/when/draft.go" { // phrase, whose callers are looked at
				t.Errorf("%s: a pattern that is no constant", f.at(n))
			}
			return true
		})
	}
	if patterns < 10 {
		t.Errorf("%d patterns; has the notation changed?", patterns)
	}
}

// phrase is the pattern that a call hands to package when's maker of phrases,
// which puts lists of words of its own into it; the parameter pattern is what a
// maker hands on.
func phrase(call *ast.CallExpr) ast.Expr {
	name, ok := call.Fun.(*ast.Ident)
	if !ok || name.Name != "p" && name.Name != "phrase" || len(call.Args) < 2 {
		return nil
	}
	made := call.Args[len(call.Args)-2]
	if x, ok := made.(*ast.Ident); ok && x.Name == "pattern" {
		return nil
	}
	return made
}

func selector(sel *ast.SelectorExpr) (string, bool) {
	if sel == nil {
		return "", false
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", false
	}
	return x.Name, true
}

// fixed: literals, names and sums of them, as far as one can see here.
func fixed(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return e.Obj != nil && e.Obj.Kind == ast.Con
	case *ast.BinaryExpr:
		return fixed(e.X) && fixed(e.Y)
	}
	return false
}

// TestSec_A_WEB_11_TheWindowBindsNothing: no function of Go is made callable from
// pages, so a page has of the window what shell.js tells it, closing and opening
// the browser, wherever the page comes from; and only pages of this machine have
// that.
func TestSec_A_WEB_11_TheWindowBindsNothing(t *testing.T) {
	windows := 0
	for _, f := range repository(t) {
		if f.test || !below(f.dir, []string{"app/window", "app/tray"}) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			kv, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, _ := kv.Key.(*ast.Ident)
			switch {
			case key == nil:
			case key.Name == "Bind" || key.Name == "EnumBind":
				t.Errorf("%s: pages get functions of Go; list them here, with who may call them", f.at(n))
			case key.Name == "BindingsAllowedOrigins":
				windows++
				if lit, ok := kv.Value.(*ast.BasicLit); !ok || lit.Value != `"http://127.0.0.1:*"` {
					t.Errorf("%s: more than pages of this machine", f.at(n))
				}
			}
			return true
		})
	}
	if windows == 0 {
		t.Error("no window was found; has the notation changed?")
	}
}
