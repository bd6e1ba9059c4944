package imports

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
)

// settings takes of a file of settings what Hearth can use and does not have; its
// MCP servers are items of their own.
func (w *walk) settings(ctx context.Context, it imports.Item) error {
	here, err := settledBy(w.Settings.Snapshot(), w.services())
	if err != nil {
		return err
	}
	o := config.Options{Sections: w.Settings.Sections(), Env: func(name string) (string, bool) {
		v := w.Env(name)
		return v, v != ""
	}}
	m, err := mapSettings(*it.Settings, o, here)
	if err != nil {
		w.leave(imports.Settings, it.Name, err.Error(), 1)
		return nil
	}
	for _, l := range m.left {
		w.leave(imports.Settings, l.path, l.why, 1)
	}
	for _, path := range m.here {
		w.count(imports.Settings, path, already)
	}
	if len(m.taken) > 0 {
		if err := w.patchSettings(ctx, m); err != nil {
			for _, path := range m.taken {
				w.leave(imports.Settings, path, err.Error(), 1)
			}
		} else {
			for _, path := range m.taken {
				w.count(imports.Settings, path, fresh)
			}
		}
		if m.patch["channels"] != nil {
			w.note("Messaging networks came in switched off: two programs on one login cut each other off. Stop the other one, then run " +
				"`hearth config set channels.NAME.enabled true`.")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.servers)) {
		if err := w.item(ctx, imports.ServerOf(id, m.servers[id])); err != nil {
			return err
		}
	}
	return nil
}

// services are the model services that there are accounts of here; a key that was only
// found in the environment, where the other program may have its own, makes none.
func (w *walk) services() map[string]bool {
	out := map[string]bool{}
	for _, a := range w.Accounts.Accounts.Book().Accounts() {
		if a.Source != profile.SourceEnv {
			out[a.Provider] = true
		}
	}
	return out
}

func (w *walk) patchSettings(ctx context.Context, m mapped) error {
	raw, err := json.Marshal(m.patch)
	if err != nil {
		return err
	}
	return w.patch(ctx, string(raw))
}
