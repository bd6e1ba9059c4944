package gateway

import (
	"github.com/hearth-assistant/hearth/gateway/place"
	"github.com/hearth-assistant/hearth/gateway/undo"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

// finder finds files for tools, and never our own.
func (g *Gateway) finder() place.Finder {
	return place.Finder{Home: g.execution.Home, Private: g.execution.Hide, Readable: g.skills.Holds, Workspaces: &g.workspaces}
}

// openUndo opens the copies of what tools change.
func (g *Gateway) openUndo() (err error) {
	g.undo, err = undo.Open(undo.Options{
		Dir: g.opts.Dir.Undo(), DB: g.store, Finder: g.finder(), Now: g.opts.Now, NewID: newUUID, Logger: g.log,
	})
	if err != nil {
		return &StartError{What: "The kept copies of changed files cannot be used", Err: err, Fix: "Move " + g.opts.Dir.Undo() + " away; " +
			"nothing can be taken back then"}
	}
	g.files = workspace.New(g.finder(), g.opts.Now)
	return nil
}
