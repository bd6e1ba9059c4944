package imports

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/imports"
)

// rounds bounds how often something that does not fit is taken out.
const rounds = 200

// fit takes out what Hearth refuses, does not know or does not use.
func (m *mapped) fit(o config.Options) error {
	for range rounds {
		raw, err := json.Marshal(m.patch)
		if err != nil {
			return err
		}
		snap := config.Read(string(raw), config.Options{Sections: o.Sections, Env: o.Env})
		if snap.Valid && len(snap.Issues) == 0 {
			if !m.dropIdle(snap.Warnings) {
				return nil
			}
			continue
		}
		if len(snap.Issues) == 0 || !m.drop(snap.Issues[0].Path, snap.Issues[0].Message) {
			return errors.New("the settings could not be fitted to Hearth's")
		}
	}
	return errors.New("too many of the settings do not fit Hearth's")
}

// dropIdle takes out what has no effect here, also out of things in a list, and reports
// whether there was any.
func (m *mapped) dropIdle(warnings []config.Issue) (some bool) {
	for _, w := range warnings {
		p, err := config.ParsePath(w.Path)
		if !w.Idle || err != nil {
			continue
		}
		key, ok := p[len(p)-1].Name()
		parent, found := p[:len(p)-1].In(m.patch)
		o, isObject := parent.(map[string]any)
		if _, there := o[key]; !ok || !found || !isObject || !there {
			continue
		}
		delete(o, key)
		m.gone(w.Path, notHere)
		some = true
	}
	prune(m.patch)
	return some
}

// prune removes objects in which nothing is left.
func prune(o map[string]any) {
	for k, v := range o {
		if in, ok := v.(map[string]any); ok && len(in) > 0 {
			if prune(in); len(in) == 0 {
				delete(o, k)
			}
		}
	}
}

// gone notes that what stood at a path is not taken.
func (m *mapped) gone(path, why string) {
	below := func(t string) bool {
		return t == path || strings.HasPrefix(t, path+".") || strings.HasPrefix(t, path+"[")
	}
	m.taken = slices.DeleteFunc(m.taken, below)
	m.left = append(m.left, notTaken{path, cmp.Or(imports.Line(why, 200), "it does not fit")})
}

// drop takes a setting out, or the smallest one around it.
func (m *mapped) drop(path, why string) bool {
	p, err := config.ParsePath(path)
	if err != nil {
		return false
	}
	var keys []string
	for _, s := range p {
		name, ok := s.Name()
		if !ok {
			break // a place in a list: the list goes
		}
		keys = append(keys, name)
	}
	for n := len(keys); n > 0; n-- {
		if parent, ok := dig(m.patch, keys[:n-1]...).(map[string]any); ok {
			if _, there := parent[keys[n-1]]; there {
				delete(parent, keys[n-1])
				prune(m.patch)
				m.gone(pathOf(keys[:n]), why)
				return true
			}
		}
	}
	return false
}
