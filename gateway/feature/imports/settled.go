package imports

import (
	"encoding/json"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// settled is what is set here, which an import leaves as it is.
type settled struct {
	all      map[string]any  // the file
	services map[string]bool // model services that there are accounts of
}

// settledBy reads what the settings and accounts here say.
func settledBy(snap *config.Snapshot, services map[string]bool) (s settled, err error) {
	shown, err := snap.Redacted()
	if err != nil {
		return s, err
	}
	s.services = services
	if err := json.Unmarshal(shown.Parsed, &s.all); err != nil {
		return s, fmt.Errorf("read the settings here: %w", err)
	}
	return s, nil
}

// one is how far a path leads to what is one thing: a model with those that stand in
// for it, a model service, a network. Half of it from here and half from there would be
// neither's: a key of here might go to an address of there.
func one(at []string) int {
	steps := len(at)
	switch at[0] {
	case "channels", "session", "messages":
		steps = 2
	case "models", "agents", "auth", "skills", "tools":
		steps = 3
	}
	return min(steps, len(at))
}

// has reports whether something is set here already, also in a shorter or longer form
// than there.
func (s settled) has(at []string) bool {
	service := at[0] == "models" && len(at) > 2 && at[1] == "providers" || at[0] == "auth" && len(at) > 2 && at[1] == "order"
	if service && s.services[at[2]] {
		return true
	}
	var v any = s.all
	for _, k := range at[:one(at)] {
		o, ok := v.(map[string]any)
		if !ok {
			return true // the short form of all below it
		}
		if v, ok = o[k]; !ok {
			return false
		}
	}
	o, ok := v.(map[string]any)
	return !ok || len(o) > 0
}

// connected reports whether a network is switched on here.
func (s settled) connected() bool {
	networks, _ := s.all["channels"].(map[string]any)
	for name, n := range networks {
		if o, ok := n.(map[string]any); ok && name != "defaults" && o["enabled"] != false {
			return true
		}
	}
	return false
}
