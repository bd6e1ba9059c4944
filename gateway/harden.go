package gateway

import "github.com/hearth-assistant/hearth/gateway/problem"

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
	g.problems.Note(problem.OfFolder(g.opts.Dir, fixed)...)
	return nil
}
