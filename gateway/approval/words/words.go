// Package words puts requests for approval into messages that people read and
// answer on a network. It does not send them, and decides nothing.
package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
)

// Limit is how much of a question stands in one message; more is decided
// where all of it can be read (A-EXEC-13). scriptRows are the lines of a script
// that stand there; the whole is elsewhere.
const (
	Limit      = 3000
	scriptRows = 12
)

// TooLong is said where a question does not fit, so that it cannot be answered there.
const TooLong = "It is too long to show here: read it and decide in the page or with `hearth approvals`."

// Body is all of a request, and whether it fits into a message.
func Body(rec approval.Record) (string, bool) {
	var b strings.Builder
	b.WriteString(says(rec) + "\n\n")
	for _, l := range rec.Ask.Lines {
		if slices.Contains(rec.Ask.Warnings, l) {
			l = "⚠ " + l
		}
		b.WriteString(l + "\n")
	}
	for _, s := range rec.Ask.Scripts {
		b.WriteString("\nThe text of " + s.Path + ":\n")
		for _, l := range s.Head(scriptRows, "`hearth approvals show "+approval.ShortID(rec.ID)+"` and the page have the whole") {
			b.WriteString("  " + l + "\n")
		}
		if s.Text == "" {
			b.WriteString("  " + s.Why + "\n")
		}
	}
	if rec.Ask.Why != "" {
		b.WriteString("\nWhy: " + plan.Show(rec.Ask.Why) + "\n")
	}
	return b.String(), b.Len() <= Limit
}

// says is the sentence above a request, which its lines say exactly.
func says(rec approval.Record) string {
	if rec.Ask.Says.Code == "" { // of an earlier version
		title, _, _ := strings.Cut(rec.Ask.Title, " ⏎ ")
		return strings.ToValidUTF8(title[:min(len(title), 400)], "")
	}
	return rec.Ask.Says.English()
}

// Question is a request as a message that says how it is answered.
func Question(rec approval.Record) string {
	asked, fits := Asked(rec)
	if !fits {
		return asked
	}
	var b strings.Builder
	b.WriteString(asked + "\nAnswer with one of:\n")
	for _, s := range rec.Ask.Scopes() {
		fmt.Fprintf(&b, "/approve %s %s — %s\n", approval.ShortID(rec.ID), s, Scope(s))
	}
	return b.String()
}

// Asked is a request as a message below which the answers are buttons, and whether all
// of it stands there: one that does not cannot be answered so.
func Asked(rec approval.Record) (string, bool) {
	body, fits := Body(rec)
	if !fits {
		return "May I do something? " + TooLong, false
	}
	asked := "May I do this?\n\n" + body
	if rec.Asked > 1 {
		asked += fmt.Sprintf("\nThis is question %d of this answer.\n", rec.Asked)
	}
	return asked, true
}

// Answer is what a person types to decide about a request.
func Answer(rec approval.Record, s approval.Scope) string {
	return "/approve " + rec.ID + " " + string(s)
}

// Ended says how a request ended, "" while it waits.
func Ended(rec approval.Record) string {
	switch rec.State {
	case approval.StateAllowed:
		return "✓ Allowed: " + Scope(rec.Scope)
	case approval.StateDenied:
		return "✗ Not allowed"
	case approval.StateExpired:
		return "Nobody decided in time, so it was not done."
	case approval.StatePending:
		return ""
	}
	return "It is not needed any more."
}

// Scope says how far a decision goes.
func Scope(s approval.Scope) string {
	switch s {
	case approval.ScopeOnce:
		return "this time"
	case approval.ScopeSession:
		return "exactly this, in this session"
	case approval.ScopeHere:
		return "exactly this here, for 90 days"
	case approval.ScopeProgram:
		return "this program with any arguments in this folder, for 90 days"
	case approval.ScopeFolder:
		return "reading all that is in this folder, for 90 days"
	case approval.ScopeDeny:
		return "no"
	case approval.ScopeNever:
		return "never exactly this here"
	}
	return string(s)
}

// List is the requests that wait, as a message.
func List(pending []approval.Record) string {
	if len(pending) == 0 {
		return "Nothing waits for your yes."
	}
	var b strings.Builder
	for _, r := range pending {
		body, fits := Body(r)
		if !fits {
			body = says(r) + " … " + TooLong + "\n"
		}
		fmt.Fprintf(&b, "`%s` %s\n", approval.ShortID(r.ID), body)
	}
	return b.String() + "\nDecide with `/approve ID once|session|here|program|deny|never`."
}
