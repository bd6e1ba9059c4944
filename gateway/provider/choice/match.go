package choice

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Catalogue is what /new can name a model by.
func (c *Chooser) Catalogue() (out policy.Catalogue) {
	out.Aliases = map[string]string{}
	for ref, alias := range c.defaults().Aliases {
		if alias != "" {
			out.Aliases[alias] = ref
		}
	}
	for _, e := range c.o.Models.Models() {
		if e.Available && e.Chosen && c.Allowed(e.Ref) {
			out.Models = append(out.Models, e.Ref.String())
		}
	}
	return out
}

// ByAlias finds the model of a short name.
func (c *Chooser) ByAlias(name string) (string, bool) {
	aliases := c.defaults().Aliases
	for _, ref := range slices.Sorted(maps.Keys(aliases)) {
		if a := aliases[ref]; a != "" && strings.EqualFold(a, name) {
			return ref, true
		}
	}
	return "", false
}

// Match finds a model by its alias, its full name, its id, its provider's name,
// or a part of its id that only one model has. "@account" behind it is kept.
func (c *Chooser) Match(name string) (string, bool) {
	if ref, _, ok := c.find(name); ok {
		return ref, true
	}
	i := strings.LastIndexByte(name, '@')
	if i <= 0 || i == len(name)-1 {
		return "", false
	}
	ref, _, ok := c.find(name[:i])
	if !ok {
		return "", false
	}
	full := ref + "@" + name[i+1:]
	_, id, ok := profile.ParseRef(full)
	return full, ok && id != ""
}

// Exact is Match without parts of ids.
func (c *Chooser) Exact(name string) (string, bool) {
	head, account, _ := strings.Cut(name, "@")
	ref, part, ok := c.find(head)
	if ok && account != "" {
		ref += "@" + account
	}
	return ref, ok && !part
}

func (c *Chooser) find(name string) (ref string, isPart, ok bool) {
	if ref, ok := c.ByAlias(name); ok {
		return ref, false, true
	}
	name = strings.ToLower(name)
	var part []string
	for _, e := range c.o.Models.Models() {
		if !e.Available || !c.Allowed(e.Ref) {
			continue
		}
		full := e.Ref.String()
		switch id := strings.ToLower(e.Ref.Model); {
		case strings.ToLower(full) == name, id == name, strings.ToLower(e.Ref.Provider) == name, strings.ToLower(e.Name) == name:
			return full, false, true
		case len(name) >= 3 && strings.Contains(id, name):
			part = append(part, full)
		}
	}
	if len(part) == 1 {
		return part[0], true, true
	}
	return "", false, false
}

// OfDefault reads "@account" and "default@account".
func (c *Chooser) OfDefault(sessionKey, name string) (full string, ok bool) {
	head, id, found := strings.Cut(name, "@")
	if !found || id == "" || head != "" && !strings.EqualFold(head, "default") {
		return "", false
	}
	full = c.Default(sessionKey).String() + "@" + id
	_, id, ok = profile.ParseRef(full)
	return full, ok && id != ""
}

// Meant is the model that a single word names for sure, such as one behind
// /model in a message. A name of a known service that does not list it counts.
func (c *Chooser) Meant(sessionKey, name string) (ref string, ok bool) {
	if strings.EqualFold(name, "default") {
		return c.Default(sessionKey).String(), true
	}
	if ref, ok = c.OfDefault(sessionKey, name); !ok {
		ref, ok = c.Exact(name)
	}
	if !ok {
		ref = name
	}
	return ref, c.Check(ref) == nil && c.CheckAccount(ref) == nil
}

// Refusal says to a person why a name cannot be chosen.
func (c *Chooser) Refusal(name string) string {
	name = strings.ReplaceAll(name, "`", "")
	if ref, _, ok := profile.ParseRef(name); ok && !c.Allowed(ref) {
		return fmt.Sprintf("`%s` may not be chosen here: it does not stand in agents.defaults.models. `/model` lists what may; add it there "+
			"to allow it.", name)
	}
	return fmt.Sprintf("No model here is called `%s`. `/model` lists them.", name)
}

// ForAssistant is the full name of a model that an assistant may choose: one that
// a person consented to.
func (c *Chooser) ForAssistant(name string) (string, error) {
	ref, ok := c.Match(name)
	if !ok {
		ref = name
	}
	if err := c.Check(ref); err != nil {
		return "", errors.New(c.Refusal(text.Ellipsis(name, 80)))
	}
	if r, _, ok := profile.ParseRef(ref); ok {
		if err := c.Consented(r); err != nil {
			return "", err
		}
	}
	return ref, c.CheckAccount(ref)
}
