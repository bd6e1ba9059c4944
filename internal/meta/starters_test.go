package meta

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// starters are the rooms that may start programs. gateway/process starts what
// was approved; gateway/isolate this program again, for work on what strangers made; app/cli opens
// the browser with a fixed program and one address
// of ours, and goes on as another version of itself; gateway/secret/ref runs the program that the owner's settings name,
// by its arguments; app/supervise starts the gateway beside it, and app/tray the
// window beside it and the fixed programs of the system that open a link, show a
// notification and take the clipboard; app/beside starts the
// programs that were installed next to ours; app/service asks the system's manager of services;
// gateway/release tries a new version of Hearth, whose bytes were verified, on a copy;
// gateway/reach/tailscale asks tailscale, by fixed
// arguments, how this machine is known in its tailnet; build are the programs of this repository's own checks, and
// internal/netlab the networks that tests run in.
var starters = []string{"gateway/process", "gateway/isolate", "gateway/reach/tailscale", "app/beside", "app/cli", "app/service",
	"app/supervise", "app/tray", "gateway/release", "gateway/secret/ref", "build", "internal/netlab"}

// TestSec_A_EXEC_28_WhoStartsPrograms: every start of a program is in a room
// where it belongs, as arguments and never as text for a shell.
func TestSec_A_EXEC_28_WhoStartsPrograms(t *testing.T) {
	for _, f := range repository(t) {
		if f.test {
			continue
		}
		if !below(f.dir, starters) {
			for _, n := range slices.Concat(
				f.mentions("os/exec", "Command", "CommandContext", "Cmd"),
				f.mentions("os", "StartProcess"),
				f.mentions("syscall", "Exec", "ForkExec", "StartProcess"),
				f.mentions("golang.org/x/sys/unix", "Exec"),
			) {
				t.Errorf("%s: starts a program: go through gateway/process", f.at(n))
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Command" || sel.Sel.Name == "CommandContext") &&
				f.localName("os/exec") != "" {
				for _, arg := range call.Args {
					if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING &&
						slices.Contains([]string{"sh", "bash", "cmd", "powershell", "/bin/sh"}, strings.Trim(lit.Value, `"`)) {
						t.Errorf("%s: text for a shell: give arguments", f.at(n))
					}
				}
			}
			return true
		})
	}
}
