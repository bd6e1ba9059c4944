// Package choice knows which models may be chosen for a session, and which one
// somebody means by a name: an alias, "provider/model", a part of an id, with
// "@account" behind it. Commands, methods, tools and programs ask it alike.
//
// It does not own the list of models (package provider) nor the choice that a
// session keeps (package session), and it asks no model.
package choice

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
)

// Options are the parts that a Chooser needs; all of them.
type Options struct {
	Settings *config.File
	Models   *provider.Registry
	Accounts *profile.Book
	Agents   *agents.Directory
	Now      func() time.Time
}

// Chooser answers by the settings and models as they are now. Its methods may be
// called from several goroutines.
type Chooser struct{ o Options }

// New returns a chooser.
func New(o Options) *Chooser { return &Chooser{o} }

func (c *Chooser) defaults() Defaults { return Section.Of(c.o.Settings.Snapshot().Config) }

// Allowed asks the list of models that may be chosen. The default and its
// fallbacks are the operator's own wish and need not stand there.
func (c *Chooser) Allowed(ref model.Ref) bool {
	d := c.defaults()
	if len(d.Aliases) == 0 {
		return true
	}
	if _, ok := d.Aliases[ref.String()]; ok {
		return true
	}
	def, _ := c.o.Models.Default()
	return ref == def || slices.ContainsFunc(d.Model.Fallbacks, func(name string) bool { return c.o.Models.Named(name) == ref })
}

// Check refuses a model that may not be chosen or whose service is not known,
// and names those that are.
func (c *Chooser) Check(name string) error {
	ref, _, ok := profile.ParseRef(name)
	if !ok {
		return fmt.Errorf("model %q should read provider/model", name)
	}
	if !c.Allowed(ref) {
		return fmt.Errorf("model %q may not be chosen: it does not stand in agents.defaults.models", name)
	}
	known := slices.Collect(maps.Keys(provider.Section.Of(c.o.Settings.Snapshot().Config).Services))
	for _, e := range c.o.Models.Models() {
		known = append(known, e.Ref.Provider)
	}
	if slices.Contains(known, ref.Provider) {
		return nil
	}
	slices.Sort(known)
	return fmt.Errorf("no model service is called %q; known here: %s", ref.Provider, strings.Join(slices.Compact(known), ", "))
}

// CheckAccount refuses an account that does not exist.
func (c *Chooser) CheckAccount(name string) error {
	ref, id, _ := profile.ParseRef(name)
	if id == "" {
		return nil
	}
	if len(c.o.Accounts.Candidates(ref.Provider, ref.Model, profile.Pin{Profile: id, User: true}, c.o.Now())) == 0 {
		return fmt.Errorf("there is no account `%s` for %s. `hearth models auth` lists them", strings.ReplaceAll(id, "`", ""), ref.Provider)
	}
	return nil
}

// Consented refuses a model whose service nobody chose: its key was only found.
// Programs and assistants name such models; a person who picks one has chosen.
func (c *Chooser) Consented(ref model.Ref) error {
	for _, e := range c.o.Models.Models() {
		if e.Ref.Provider == ref.Provider && !e.Chosen {
			return fmt.Errorf("%s has a key in the environment that its person did not choose, so it is not used for this. The person can pick "+
				"%s in the model picker, or run `hearth models set %s`", e.Service, e.Name, e.Ref)
		}
	}
	return nil
}

// Default is the model that a session has when nothing is chosen for it: its
// agent's own, else that of all.
func (c *Chooser) Default(sessionKey string) model.Ref {
	if a := c.o.Agents.OfSession(sessionKey); a.Primary != "" {
		return c.o.Models.Named(a.Primary)
	}
	ref, _ := c.o.Models.Default()
	return ref
}

// OfAgent selects an agent's own model where nothing else was chosen. It is
// strict without fallbacks of its own.
func (c *Chooser) OfAgent(sel failover.Selection) failover.Selection {
	a := c.o.Agents.OfSession(sel.Session)
	if a.Primary == "" || sel.Ref != (model.Ref{}) {
		return sel
	}
	sel.Ref, sel.Source = c.o.Models.Named(a.Primary), failover.SourceAgent
	if sel.Fallbacks != nil { // the run has its own
		return sel
	}
	for _, name := range a.Fallbacks {
		sel.Fallbacks = append(sel.Fallbacks, c.o.Models.Named(name))
	}
	return sel
}

// Pin leaves the model out of a choice that is the session's default with one
// account: then only the account was chosen, and fallbacks still stand in for it.
func (c *Chooser) Pin(sessionKey, name string) string {
	ref, id, ok := profile.ParseRef(name)
	if ok && id != "" && ref == c.Default(sessionKey) {
		return "@" + id
	}
	return name
}
