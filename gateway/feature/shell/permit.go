package shell

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/approval/sentence"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/shell"
)

// permit is the question that exec and process ask before anything runs.
func (f *feature) permit(ctx context.Context, call tool.Call, w shell.Wish) (shell.Grant, error) {
	grant, err := f.o.Gate.Permit(ctx, call, askFor(call, w, f.o.Execution.Home))
	return shell.Grant{ID: grant.ID, Unconfined: grant.Unconfined}, err
}

func askFor(call tool.Call, w shell.Wish, home string) approval.Ask {
	var a approval.Ask
	if w.Input != "" {
		a = approval.For(approval.KindExec, call)
		a.Tool, a.Title = "process", "Type "+plan.Show(fmt.Sprintf("%q", w.Input))+" into "+plan.Show(w.Into.Title)
		a.Says = sentence.New("type", "program", w.Into.Title)
		a.Command, a.Dir = w.Input, w.Into.Dir
		a.Digest = sha256.Sum256([]byte(w.Into.ID + "\x00" + w.Input))
		a.Warnings = []string{"What is typed into a program may be a command to it."}
	} else {
		a = approval.ForCommand(call, w.Plan, w.Why, home)
	}
	a.Unconfined = w.Unconfined || w.NoSandbox != ""
	switch {
	case w.NoSandbox != "":
		a.Warnings = append(a.Warnings, "It runs without a sandbox: it can read and change everything that you can. "+w.NoSandbox)
	case w.Unconfined:
		a.Warnings = append(a.Warnings, "It runs outside the sandbox: it can read and change everything that you can, and reach the network.")
	}
	if w.Loose != "" {
		a.Warnings = append(a.Warnings, w.Loose)
	}
	return a
}
