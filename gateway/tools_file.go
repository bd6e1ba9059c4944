package gateway

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/place"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/file"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

// finder finds files for tools, and never our own.
func (g *Gateway) finder() place.Finder {
	home := g.opts.Env("HOME")
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	return place.Finder{Home: home, Private: []string{string(g.opts.Dir), g.config.Path()}}
}

// openUndo opens the copies of what tools change.
func (g *Gateway) openUndo() (err error) {
	g.undo, err = undo.Open(undo.Options{
		Dir: g.opts.Dir.Undo(), DB: g.store, Finder: g.finder(), Now: g.opts.Now, NewID: newUUID, Logger: g.log,
	})
	if err != nil {
		return &StartError{What: "The kept copies of changed files cannot be used", Err: err, Fix: "Move " + g.opts.Dir.Undo() + " away; nothing can be taken back then"}
	}
	return nil
}

// fileTools are the tools that read and change files.
func (g *Gateway) fileTools() []tool.Tool {
	return file.New(file.Options{Finder: g.finder(), Permit: g.permitFile, Undo: g.undo, Sees: g.sees})
}

// permitFile asks the owner about a file that is not free.
func (g *Gateway) permitFile(ctx context.Context, call tool.Call, ask file.Ask) error {
	a := approval.For(approval.KindFile, call)
	a.Tool, a.Path, a.Digest, a.Known = ask.Tool, ask.Path, ask.Digest, true
	// To read a file is one thing for ever; each change is another.
	a.Lasting = !ask.Change
	verb := "Read"
	switch {
	case ask.Gone:
		verb = "Delete"
	case ask.New:
		verb = "Make"
	case ask.Change:
		verb = "Change"
	}
	a.Title = verb + " " + plan.Show(ask.Path)
	a.Lines = []string{a.Title, "It is asked because " + ask.Reason + "."}
	if ask.Runs {
		a.Warnings = append(a.Warnings, "What stands in this file is run, or followed by the assistant, later without being asked.")
		if len(ask.Diff) > approval.MaxBytes {
			return approval.ErrTooLong
		}
	}
	shown := ask.Diff
	if len(shown) > approval.MaxBytes {
		shown = strings.ToValidUTF8(shown[:approval.MaxBytes], "")
		a.Warnings = append(a.Warnings, "Only the beginning of the change is shown.")
	}
	for line := range strings.Lines(shown) {
		a.Lines = append(a.Lines, plan.Show(strings.TrimRight(line, "\r\n")))
	}
	_, err := g.permit(ctx, call, a)
	return err
}

// sees reports whether a model is shown pictures.
func (g *Gateway) sees(ref model.Ref) bool {
	for _, e := range g.models.Models() {
		if e.Ref == ref {
			return slices.Contains(e.Input, "image")
		}
	}
	return false
}
