// Package prompts is the feature of prompts that a person keeps to use them again:
// clients list them, ask for their fields and write what comes of it.
package prompts

import (
	"context"
	"maps"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Options are the parts that the feature needs; all of them.
type Options struct{ Settings *config.File }

type feature struct{ o Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{o}
	return host.Feature{Methods: []method.Method{method.Plain(protocol.MethodPromptsList, f.list)}}
}

func (f *feature) list(context.Context, struct{}) (protocol.PromptsList, error) {
	all := Section.Of(f.o.Settings.Snapshot().Config).Templates
	out := protocol.PromptsList{Prompts: []protocol.PromptTemplate{}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t := all[name]
		out.Prompts = append(out.Prompts, protocol.PromptTemplate{
			Name: name, About: t.About, Text: t.Text, Fields: protocol.PromptFields(t.Text),
		})
	}
	return out, nil
}
