package approval_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
)

// reads is an ask to read a file in a folder that one yes may be about.
func reads(path string) approval.Ask {
	return approval.Ask{
		Kind: approval.KindFile, RunID: "r1", SessionKey: "agent:main:main", SessionID: "s1", AgentID: "main", CallID: "c1", Owner: true,
		Tool:  "read",
		Title: "Read " + path, Path: path, Known: true, Lasting: true, Folder: filepath.Dir(path), FolderTitle: "Read files in " +
			filepath.Dir(path),
	}
}

// A yes for a folder is offered for what the owner's turn reads, and only where
// the place said that a folder may be allowed.
func TestSec_A_EXEC_08_FolderScope(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*approval.Ask)
		want   bool
	}{
		"a read":                 {func(*approval.Ask) {}, true},
		"its folder's list":      {func(a *approval.Ask) { a.Path = a.Folder }, true},
		"no folder":              {func(a *approval.Ask) { a.Folder = "" }, false},
		"a change":               {func(a *approval.Ask) { a.Lasting = false }, false},
		"a change that lasts":    {func(a *approval.Ask) { a.Command = "+new" }, false},
		"a change that is bound": {func(a *approval.Ask) { a.Digest = [32]byte{1} }, false},
		"not known":              {func(a *approval.Ask) { a.Known = false }, false},
		"words of others":        {func(a *approval.Ask) { a.Owner = false }, false},
		"a command":              {func(a *approval.Ask) { a.Kind = approval.KindExec }, false},
		"another folder":         {func(a *approval.Ask) { a.Folder = "/home/a/Doc" }, false},
	} {
		a := reads("/home/a/Documents/one")
		tc.change(&a)
		if got := slices.Contains(a.Scopes(), approval.ScopeFolder); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// A folder that was allowed is that folder and what is below, for reading, by
// that agent, for a while.
func TestSec_A_EXEC_08_FolderRulesAreNarrow(t *testing.T) {
	for name, tc := range map[string]struct {
		ask   func() approval.Ask
		after time.Duration
		asked bool
	}{
		"another file":       {ask: func() approval.Ask { return reads("/home/a/Doc/two") }},
		"below":              {ask: func() approval.Ask { return reads("/home/a/Doc/deep/er/two") }},
		"the list":           {ask: func() approval.Ask { a := reads("/home/a/Doc/x"); a.Path = "/home/a/Doc"; return a }},
		"an odd name":        {ask: func() approval.Ask { return reads("/home/a/Doc/..two") }},
		"another session":    {ask: func() approval.Ask { a := reads("/home/a/Doc/two"); a.SessionKey = "agent:main:other"; return a }},
		"a longer name":      {ask: func() approval.Ask { return reads("/home/a/Documents/two") }, asked: true},
		"above":              {ask: func() approval.Ask { return reads("/home/a/two") }, asked: true},
		"where a link leads": {ask: func() approval.Ask { return reads("/home/a/Music/two") }, asked: true},
		"another case":       {ask: func() approval.Ask { return reads("/home/a/doc/two") }, asked: true},
		"a protected file in it": {ask: func() approval.Ask { a := reads("/home/a/Doc/.env"); a.Folder, a.FolderTitle = "", ""; return a },
			asked: true},
		"a change in it": {ask: func() approval.Ask { a := reads("/home/a/Doc/two"); a.Lasting, a.Command = false, "+x"; return a },
			asked: true},
		"another agent":   {ask: func() approval.Ask { a := reads("/home/a/Doc/two"); a.AgentID = "work"; return a }, asked: true},
		"words of others": {ask: func() approval.Ask { a := reads("/home/a/Doc/two"); a.Owner = false; return a }, asked: true},
		"after its time":  {ask: func() approval.Ask { return reads("/home/a/Doc/two") }, after: 91 * 24 * time.Hour, asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *house) {
				h.allow(t, reads("/home/a/Doc/one"), approval.ScopeFolder)
				pass(tc.after)
				if asked, got := h.asks(t, tc.ask()); asked != tc.asked || !asked && got.err != nil {
					t.Errorf("asked = %v, %+v", asked, got)
				}
			})
		})
	}
}

// A never for one file stands in a folder that is allowed, and what is taken
// back is asked again.
func TestSec_A_EXEC_08_FolderRulesEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		h.allow(t, reads("/home/a/Doc/diary"), approval.ScopeNever)
		h.allow(t, reads("/home/a/Doc/one"), approval.ScopeFolder)
		var denied *approval.DeniedError
		if asked, got := h.asks(t, reads("/home/a/Doc/diary")); asked || !errors.As(got.err, &denied) {
			t.Errorf("asked = %v, %+v", asked, got)
		}
		rules := h.Rules()
		at := slices.IndexFunc(rules, func(r approval.Rule) bool { return r.Scope == approval.ScopeFolder })
		if at < 0 || rules[at].Title != "Read files in /home/a/Doc" || rules[at].Folder != "/home/a/Doc" {
			t.Fatalf("%+v", rules)
		}
		if was, err := h.RemoveRule(t.Context(), rules[at].ID); !was || err != nil {
			t.Fatal(was, err)
		}
		if asked, _ := h.asks(t, reads("/home/a/Doc/two")); !asked {
			t.Error("it is still read")
		}
	})
}

// A folder that does not hold the file cannot be asked for.
func TestSec_A_EXEC_08_FolderOfAnotherFile(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		for _, folder := range []string{"/home/a/Documents", "/home/a/Doc/..", "Doc", "/home/a/Doc/one/x"} {
			a := reads("/home/a/Doc/one")
			a.Folder = folder
			if _, err := h.Permit(t.Context(), a); !errors.Is(err, approval.ErrMalformed) {
				t.Errorf("%s: %v", folder, err)
			}
		}
	})
}
