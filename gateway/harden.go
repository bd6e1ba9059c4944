package gateway

import (
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// checkFolder refuses a state folder that others could tamper with, makes what
// is open in it private again, and warns about one that is copied elsewhere.
func (g *Gateway) checkFolder() error {
	if err := g.opts.Dir.Check(); err != nil {
		return &StartError{What: "Hearth's folder is not safe", Err: err, Fix: "Mend that, or give Hearth another folder with HEARTH_HOME"}
	}
	fixed, err := g.opts.Dir.Tighten()
	if err != nil {
		return &StartError{What: "Hearth's folder cannot be made private", Err: err, Fix: "Give it a folder that belongs to you, with " +
			"HEARTH_HOME"}
	}
	for _, name := range fixed {
		g.hardness = append(g.hardness, protocol.Problem{
			Code: "STATE_OPEN", Message: "Other users of this machine could read " + name + "; Hearth made it private. If somebody else uses " +
				"this machine, make new keys.",
		})
	}
	if cloud := g.opts.Dir.Synced(); cloud != "" {
		g.hardness = append(g.hardness, protocol.Problem{
			Code: "STATE_SYNCED", Message: "Hearth's data is in a folder of " + cloud + ", which copies your conversations and keys to other " +
				"machines and can damage the database. Stop Hearth, move " + string(g.opts.Dir) + " elsewhere and set HEARTH_HOME to the new place.",
		})
	}
	if kind := g.opts.Dir.Shared(); kind != "" {
		g.hardness = append(g.hardness, protocol.Problem{
			Code: "STATE_SHARED", Message: "Hearth's data is in " + kind + ", where a database can be damaged when the connection breaks. Stop " +
				"Hearth, move " + string(g.opts.Dir) + " to a disk of this machine and set HEARTH_HOME to the new place.",
		})
	}
	return nil
}
