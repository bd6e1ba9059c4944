package imports

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/skill"
)

// skill installs a skill, as `hearth skills install` does. One that has to be
// looked at first is left to the person.
func (w *walk) skill(ctx context.Context, it imports.Item) (outcome, error) {
	files, err := skill.Gather(it.Skill.Files)
	if err != nil {
		return nothing, leave("%v", err)
	}
	plan, err := w.Skills.Plan(files, it.Skill.Where)
	switch {
	case err != nil:
		return nothing, leave("%v", err)
	case plan.Same:
		return already, nil
	case plan.Update || plan.Refused != "":
		return nothing, leave("another skill of this name is installed: compare them with `hearth skills install`")
	case len(plan.Findings) > 0:
		return nothing, leave("look at it first with `hearth skills install`: %s", plan.Findings[0])
	}
	if w.task == "" {
		return fresh, nil
	}
	_, err = w.Skills.Install(ctx, files, it.Skill.Where, plan.Hash, false)
	return fresh, err
}

// job makes a job, switched off: the program that it comes from may still do it.
func (w *walk) job(ctx context.Context, it imports.Item) (outcome, error) {
	if !w.Jobs.On() {
		return nothing, leave("jobs are switched off here (features.cron)")
	}
	if _, known, err := w.recorded(it); err != nil || known {
		return already, err
	}
	if w.task == "" {
		return fresh, nil
	}
	spec, off := *it.Job, false
	spec.Enabled, spec.DeclarationKey = &off, "import:"+w.from+":"+digest(it.ID)[:24] // a second try makes no second job
	spec.Name, spec.Description = imports.Line(spec.Name, 100), imports.Line(spec.Description, 500)
	if _, ok := w.Agents.Book().Get(spec.AgentID); !ok {
		spec.AgentID = ""
	}
	_, err := w.Jobs.Add(ctx, spec)
	var refused *protocol.Error
	if errors.As(err, &refused) {
		return nothing, leave("%s", refused.Message)
	}
	if err != nil {
		return nothing, err
	}
	w.note("Jobs came in switched off. Look at them with `hearth cron list --all`, switch them off where they came from, and then " +
		"`hearth cron enable` those that you want.")
	return fresh, w.record(ctx, it, record{})
}

// server adds a server of tools, switched off.
func (w *walk) server(ctx context.Context, it imports.Item) (outcome, error) {
	name := imports.ServerName(it.ID)
	if name == "" {
		return nothing, leave("nothing of its name can be the name of a server here")
	}
	if _, set, err := w.Settings.Snapshot().Get("mcp.servers." + name); err != nil || set {
		return already, err
	}
	settings := map[string]any{"enabled": false}
	for k, v := range it.Server.Settings {
		settings[k] = v
	}
	raw, err := json.Marshal(map[string]any{"mcp": map[string]any{"servers": map[string]any{name: settings}}})
	if err != nil {
		return nothing, err
	}
	if err := w.patch(ctx, string(raw)); err != nil {
		return nothing, leave("%s", imports.Why(err))
	}
	w.note("MCP servers came in switched off: `hearth mcp list` shows them, `hearth config set mcp.servers.NAME.enabled true` uses one.")
	return fresh, nil
}

// patch changes the settings; secrets in it go to where secrets are kept, or it is
// refused.
func (w *walk) patch(ctx context.Context, raw string) error {
	_, found, err := w.Settings.Sections().Hoist(raw)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		for _, f := range found {
			w.Secrets.Hide(f.Value)
		}
		if st := w.Secrets.Status(ctx); !st.Ready() {
			return fmt.Errorf("it holds keys, and there is no place to keep them now: %s", st.Message)
		}
	}
	if w.task == "" {
		return nil
	}
	_, _, err = w.Secrets.Patch(ctx, "", raw)
	return err
}

// key keeps a key of a model service where keys are kept.
func (w *walk) key(ctx context.Context, it imports.Item) (outcome, error) {
	k := *it.Key
	if k.Variable != "" {
		id, ok := provider.OfVariable(k.Variable)
		if !ok {
			return nothing, leave("it is the key of no model service that Hearth knows: if you need it, set it where Hearth is started")
		}
		k.Provider = id
	}
	value, err := secret.CleanKey(k.Secret)
	if err != nil {
		return nothing, leave("%v", err)
	}
	w.Secrets.Hide(value)
	id := profile.ID(k.Provider, k.Account)
	if slices.ContainsFunc(w.Accounts.Accounts.Book().Accounts(), func(a profile.Account) bool { return a.ID == id }) {
		return already, nil
	}
	if w.Accounts.Models.Address(k.Provider) == "" {
		return nothing, leave("Hearth does not know where the service %s is", imports.Line(k.Provider, 60))
	}
	if st := w.Secrets.Status(ctx); !st.Ready() {
		return nothing, leave("there is no place to keep keys now: %s", st.Message)
	}
	if w.task == "" {
		return fresh, nil
	}
	_, err = w.Accounts.Key(ctx, protocol.ModelsAuthSetKeyParams{Provider: k.Provider, APIKey: k.Secret, Name: k.Account, Token: k.Token})
	var refused *protocol.Error
	if errors.As(err, &refused) {
		return nothing, leave("%s", refused.Message)
	}
	return fresh, err
}

// person lets somebody write who was let in there: as a guest, whatever they were.
func (w *walk) person(ctx context.Context, it imports.Item) (outcome, error) {
	p := it.Person
	if _, ok := w.Networks.Get(p.Channel); !ok {
		return nothing, leave("Hearth has no network called %s", imports.Line(p.Channel, 40))
	}
	id := strings.TrimPrefix(p.ID, p.Channel+":")
	if id != imports.Line(id, 128) {
		return nothing, leave("it is no id of a person")
	}
	account := cmp.Or(p.Account, "default")
	id = w.Networks.Person(p.Channel, id)
	if _, there, err := w.Contacts.Lookup(p.Channel, account, id); err != nil || there {
		return already, err
	}
	if _, known, err := w.recorded(it); err != nil || known {
		return already, err // removed here since
	}
	if w.task == "" {
		return fresh, nil
	}
	_, err := w.Contacts.Change(ctx, contact.Person{Channel: p.Channel, Account: account, ID: id, Name: imports.Line(p.Name, 60)},
		func(*contact.Rights) {})
	if err != nil {
		return nothing, err
	}
	w.note("People came in as guests. `hearth contacts` shows them, and says who is you.")
	return fresh, w.record(ctx, it, record{})
}
