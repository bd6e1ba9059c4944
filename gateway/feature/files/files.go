// Package files is the feature of reading and changing files: the tools read,
// write, edit and apply_patch. What they take and say is package tool/file's,
// where a path leads is package place's; this one asks the owner in their words.
package files

import (
	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/document"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/skill/catalog"
	"github.com/hearth-assistant/hearth/gateway/taint"
	"github.com/hearth-assistant/hearth/gateway/tool/file"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Finder safepath.Finder
	Reader *document.Reader // of files that are no text themselves
	Agents *agents.Directory
	Models *provider.Registry // which of them see pictures
	Skills *catalog.Catalog   // may be what is changed
	Gate   *gate.Gate
	Taint  *taint.Tracker
	Undo   *undo.Log
}

type feature struct{ o Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{o}
	tools := file.New(file.Options{
		Finder: o.Finder, Permit: f.permit, Undo: o.Undo, Sees: o.Models.Sees, Outside: o.Taint.Outside, Told: o.Taint.Changed,
		Document: o.Reader.Read,
	})
	for i, t := range tools {
		if t.Spec().Name != "read" {
			tools[i] = o.Skills.Writing(t)
		}
	}
	return host.Feature{Tools: tools}
}
