package imports

import (
	"fmt"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/agents"
)

// agents takes who the assistants are: their names, not what they may. Where the model
// that answers is chosen here, the main assistant goes on answering with it.
func (w *fitting) agents(list []any) {
	if w.here.has([]string{"agents", "list"}) {
		w.m.here = append(w.m.here, "agents.list")
		return
	}
	settled := w.here.has([]string{"agents", "defaults", "model"})
	var out []any
	for _, a := range list {
		if o, ok := a.(map[string]any); ok && o["id"] != nil {
			out = append(out, w.agent(o, settled))
		}
	}
	if len(out) == 0 {
		return
	}
	isMain := func(a any) bool { return dig(a, "id") == agents.Main }
	if settled && !slices.ContainsFunc(out, isMain) { // else the first of them would answer
		out = append([]any{map[string]any{"id": agents.Main, "default": true}}, out...)
	}
	put(w.patch, []string{"agents", "list"}, out)
	w.m.taken = append(w.m.taken, "agents.list")
	w.m.left = append(w.m.left, notTaken{"agents.list[]", "tools, folders and sandboxes of each assistant are set here anew"})
}

// agent is what is taken of one. settled: who answers here stays.
func (w *fitting) agent(there map[string]any, settled bool) map[string]any {
	kept := map[string]any{}
	for _, k := range []string{"id", "default", "name", "identity", "model"} {
		if v, ok := there[k]; ok {
			kept[k] = v
		}
	}
	main := kept["id"] == agents.Main
	for k, answers := range map[string]bool{"model": main, "default": !main} {
		if _, said := kept[k]; said && settled && answers {
			delete(kept, k)
			w.m.here = append(w.m.here, "agents.list["+pathOf([]string{fmt.Sprint(kept["id"])})+"]."+k)
		}
	}
	if main && settled {
		kept["default"] = true
	}
	return kept
}
