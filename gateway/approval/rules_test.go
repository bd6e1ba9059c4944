package approval_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
)

// allow makes a rule by a person's decision about a first ask.
func (h *house) allow(t *testing.T, a approval.Ask, scope approval.Scope) approval.Record {
	t.Helper()
	out := h.permit(t.Context(), a)
	rec, err := h.Resolve(t.Context(), h.only(t).ID, scope, owner)
	if err != nil {
		t.Fatal(err)
	}
	if got := <-out; (got.err == nil) != scope.Allows() {
		t.Fatalf("scope %s gave %+v", scope, got)
	}
	return rec
}

// asks reports whether a person is asked about a; the request is then denied.
func (h *house) asks(t *testing.T, a approval.Ask) (asked bool, got outcome) {
	t.Helper()
	before := h.prompts()
	out := h.permit(t.Context(), a)
	synctest.Wait()
	if h.prompts() == before {
		return false, <-out
	}
	if _, err := h.Resolve(t.Context(), h.only(t).ID, approval.ScopeDeny, owner); err != nil {
		t.Fatal(err)
	}
	return true, <-out
}

// A rule is never wider than what was shown: another program, content, folder,
// agent, argument, environment or place to write is asked again.
func TestSec_A_EXEC_08_RulesAreNarrow(t *testing.T) {
	base := func() approval.Ask { return ask("r1", "git push") }
	other := map[string]func(*approval.Ask){
		"arguments":   func(a *approval.Ask) { a.Command, a.Argv = "git push --force", []string{"git", "push", "--force"} },
		"program":     func(a *approval.Ask) { a.Program = "/usr/bin/bash" },
		"content":     func(a *approval.Ask) { a.ProgramHash = [32]byte{2} },
		"plan":        func(a *approval.Ask) { a.Digest = [32]byte{9} },
		"folder":      func(a *approval.Ask) { a.Dir = "/work/site/sub" },
		"agent":       func(a *approval.Ask) { a.AgentID = "work" },
		"environment": func(a *approval.Ask) { a.Env = []string{"GIT_SSH_COMMAND=pwned"} },
		"writes":      func(a *approval.Ask) { a.Writes = []string{"/home/me/.bashrc"} },
		"sandbox":     func(a *approval.Ask) { a.Unconfined = true },
		"not known":   func(a *approval.Ask) { a.Known = false },
		"not lasting": func(a *approval.Ask) { a.Lasting = false },
		"kind":        func(a *approval.Ask) { a.Kind = approval.KindFile },
	}
	for _, scope := range []approval.Scope{approval.ScopeSession, approval.ScopeHere, approval.ScopeProgram} {
		for name, change := range other {
			t.Run(string(scope)+"/"+name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, h *house) {
					h.allow(t, base(), scope)
					if asked, got := h.asks(t, base()); asked || got.err != nil || !got.grant.Rule {
						t.Fatalf("the same again: asked=%v %+v", asked, got)
					}
					a := base()
					change(&a)
					asked, _ := h.asks(t, a)
					wide := scope == approval.ScopeProgram && (name == "arguments" || name == "plan")
					if asked == wide {
						t.Errorf("asked = %v", asked)
					}
				})
			})
		}
	}
}

// What nobody knows in advance, and what runs other things, has no lasting yes.
func TestSec_A_EXEC_08_NoLastingYesForShells(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		shell := ask("r1", `bash -lc "echo a"`)
		shell.Lasting = false
		unknown := ask("r1", "ls $(pwned)")
		unknown.Known, unknown.Lasting = false, false
		for _, c := range []struct {
			ask   approval.Ask
			scope approval.Scope
		}{{shell, approval.ScopeHere}, {shell, approval.ScopeProgram}, {unknown, approval.ScopeSession}, {unknown, approval.ScopeHere}} {
			c.ask.RunID = c.ask.Command + string(c.scope)
			out := h.permit(t.Context(), c.ask)
			rec := h.only(t)
			if slices.Contains(c.ask.Scopes(), c.scope) {
				t.Errorf("%s is offered for %s", c.scope, c.ask.Command)
			}
			if _, err := h.Resolve(t.Context(), rec.ID, c.scope, owner); !errors.Is(err, approval.ErrScope) {
				t.Errorf("%s for %s: %v, want ErrScope", c.scope, c.ask.Command, err)
			}
			if _, err := h.Resolve(t.Context(), rec.ID, approval.ScopeDeny, owner); err != nil {
				t.Error(err)
			}
			<-out
		}
	})
}

func TestSec_A_EXEC_08_RulesExpire(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		h.allow(t, ask("r1", "git push"), approval.ScopeHere)
		pass(89 * 24 * time.Hour)
		if asked, got := h.asks(t, ask("r2", "git push")); asked || got.err != nil {
			t.Fatalf("after 89 days: asked=%v %v", asked, got.err)
		}
		pass(2 * 24 * time.Hour)
		if asked, _ := h.asks(t, ask("r3", "git push")); !asked {
			t.Error("after 91 days the rule still holds")
		}
		if n := len(h.Rules()); n != 0 {
			t.Errorf("%d rules are listed", n)
		}
	})
}

// Paths of rules and asks are compared as they are, so only clean ones come in.
func TestSec_A_EXEC_18_PathsAreCleanAndAbsolute(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		for _, p := range []string{"/usr/bin/../../bin/sh", "bin/ls", "/usr//bin/ls", "/usr/bin/", "./x", "/usr/bin/./ls"} {
			for _, put := range []func(*approval.Ask, string){
				func(a *approval.Ask, p string) { a.Program = p },
				func(a *approval.Ask, p string) { a.Dir = p },
				func(a *approval.Ask, p string) { a.Path = p },
			} {
				a := ask("r1", "ls")
				put(&a, p)
				if _, err := h.Permit(t.Context(), a); !errors.Is(err, approval.ErrMalformed) {
					t.Errorf("%q: %v, want ErrMalformed", p, err)
				}
			}
		}
		h.allow(t, ask("r1", "git push"), approval.ScopeProgram)
		for _, p := range []string{"/USR/BIN/GIT", "/usr/bin/gi?", "/usr/bin/*", "/usr/bin/git2"} {
			a := ask("r-"+p, "git push")
			a.Program = p
			if asked, _ := h.asks(t, a); !asked {
				t.Errorf("%q passes as /usr/bin/git", p)
			}
		}
	})
}

// More than a person can read is not approvable; a long one is shown whole.
func TestSec_A_EXEC_13_TooLongIsNotApprovable(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		a := ask("r1", strings.Repeat("#", 20<<10)+"; pwned")
		if _, err := h.Permit(t.Context(), a); !errors.Is(err, approval.ErrTooLong) {
			t.Fatalf("20 KiB: %v", err)
		}
		a = ask("r1", "ls")
		a.Argv = []string{"ls", strings.Repeat("x", 16<<10), "pwned"}
		if _, err := h.Permit(t.Context(), a); !errors.Is(err, approval.ErrTooLong) {
			t.Fatalf("16 KiB of arguments: %v", err)
		}
		a = ask("r1", strings.Repeat("#", 4<<10)+"; pwned")
		h.permit(t.Context(), a)
		if rec := h.only(t); rec.Ask.Command != a.Command {
			t.Error("the command is not shown whole")
		}
		for _, bad := range []string{"ls \x00pwned", "ls \xff"} {
			if _, err := h.Permit(t.Context(), ask("r2", bad)); !errors.Is(err, approval.ErrMalformed) {
				t.Errorf("%q: %v", bad, err)
			}
		}
	})
}

func TestNeverGoesBeforeEveryYes(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		h.allow(t, ask("r1", "git push"), approval.ScopeNever)
		other := ask("r1", "git pull")
		h.allow(t, other, approval.ScopeProgram)
		asked, got := h.asks(t, ask("r2", "git push"))
		var denied *approval.DeniedError
		if asked || !errors.As(got.err, &denied) {
			t.Errorf("asked=%v, %+v", asked, got)
		}
	})
}

func TestRulesAreListedAndRemoved(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		rec := h.allow(t, ask("r1", "git push"), approval.ScopeHere)
		h.allow(t, ask("r1", "git gc"), approval.ScopeSession)
		if n := len(h.Rules()); n != 2 {
			t.Fatalf("%d rules", n)
		}
		h.stop(t)
		h.start(t)
		if rules := h.Rules(); len(rules) != 1 || rules[0].ID != rec.RuleID {
			t.Fatalf("after a restart: %+v", rules)
		}
		if was, err := h.RemoveRule(t.Context(), rec.RuleID); !was || err != nil {
			t.Fatal(was, err)
		}
		if was, err := h.RemoveRule(t.Context(), rec.RuleID); was || err != nil {
			t.Fatal(was, err)
		}
		if asked, _ := h.asks(t, ask("r2", "git push")); !asked {
			t.Error("a removed rule still holds")
		}
	})
}

func TestSettingsDecide(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		var set approval.Settings
		h.Settings = func(approval.Ask) approval.Settings { return set }
		h.allow(t, ask("r1", "git push"), approval.ScopeHere)
		for _, c := range []struct {
			set   approval.Settings
			cmd   string
			asked bool
			ok    bool
		}{
			{approval.Settings{Security: approval.SecurityDeny}, "git push", false, false},
			{approval.Settings{Ask: approval.AskOff}, "git push", false, true},
			{approval.Settings{Ask: approval.AskOff}, "git gc", false, false},
			{approval.Settings{Ask: approval.AskAlways}, "git push", true, false},
		} {
			set = c.set
			a := ask("r-"+c.cmd+string(c.set.Ask), c.cmd)
			if asked, got := h.asks(t, a); asked != c.asked || (got.err == nil) != c.ok {
				t.Errorf("%+v %s: asked=%v %v", c.set, c.cmd, asked, got.err)
			}
		}
	})
}
