package gateway

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
)

// catalogue is what /new can name a model by.
func (g *Gateway) catalogue() (c policy.Catalogue) {
	c.Aliases = map[string]string{}
	for ref, m := range g.config.Snapshot().Config.Agents.Defaults.Models {
		if m.Alias != "" {
			c.Aliases[m.Alias] = ref
		}
	}
	for _, e := range g.models.Models() {
		if e.Available && e.Chosen && g.mayChoose(e.Ref) {
			c.Models = append(c.Models, e.Ref.String())
		}
	}
	return c
}

// mayChoose asks the list of models that may be chosen. The default and its
// fallbacks are the operator's own wish and need not stand there.
func (g *Gateway) mayChoose(ref model.Ref) bool {
	d := g.config.Snapshot().Config.Agents.Defaults
	if len(d.Models) == 0 {
		return true
	}
	if _, ok := d.Models[ref.String()]; ok {
		return true
	}
	def, _ := g.models.Default()
	return ref == def || slices.ContainsFunc(d.Model.Fallbacks, func(name string) bool { return g.models.Named(name) == ref })
}

// byAlias finds the model of a short name.
func (g *Gateway) byAlias(name string) (string, bool) {
	models := g.config.Snapshot().Config.Agents.Defaults.Models
	for _, ref := range slices.Sorted(maps.Keys(models)) {
		if a := models[ref].Alias; a != "" && strings.EqualFold(a, name) {
			return ref, true
		}
	}
	return "", false
}

// matchModel finds a model by its alias, its full name, its id, its provider's
// name, or a part of its id that only one model has. "@account" behind it is
// kept.
func (g *Gateway) matchModel(name string) (string, bool) {
	if ref, ok := g.matchName(name); ok {
		return ref, true
	}
	i := strings.LastIndexByte(name, '@')
	if i <= 0 || i == len(name)-1 {
		return "", false
	}
	ref, ok := g.matchName(name[:i])
	if !ok {
		return "", false
	}
	full := ref + "@" + name[i+1:]
	_, id, ok := profile.ParseRef(full)
	return full, ok && id != ""
}

func (g *Gateway) matchName(name string) (string, bool) {
	ref, _, ok := g.findName(name)
	return ref, ok
}

// exactModel is matchModel without parts of ids.
func (g *Gateway) exactModel(name string) (string, bool) {
	head, account, _ := strings.Cut(name, "@")
	ref, part, ok := g.findName(head)
	if ok && account != "" {
		ref += "@" + account
	}
	return ref, ok && !part
}

func (g *Gateway) findName(name string) (ref string, isPart, ok bool) {
	if ref, ok := g.byAlias(name); ok {
		return ref, false, true
	}
	name = strings.ToLower(name)
	var part []string
	for _, e := range g.models.Models() {
		if !e.Available || !g.mayChoose(e.Ref) {
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

func (g *Gateway) cmdModel(ctx context.Context, key, args string) (string, error) {
	if args == "" || args == "list" || args == "status" {
		return g.listModels(key)
	}
	patch := protocol.SessionsPatchParams{Model: protocol.Patch[string]{Set: true}}
	said := "This session uses the default model again."
	if args != "default" {
		ref, ok := g.matchModel(args)
		if id, of := g.accountOfDefault(key, args); of {
			ref, ok = id, true
		}
		if !ok {
			ref = args
		}
		if err := g.checkModel("model", ref); err != nil {
			return g.noModel(args, err), nil
		}
		if err := g.checkAccount(ref); err != nil {
			return err.Error(), nil
		}
		patch.Model = protocol.PatchTo(g.asPin(key, ref))
		said = "This session now uses **" + ref + "**."
	}
	busy := g.busy(key)
	_, err := g.session.Patch(ctx, key, patch)
	if busy {
		said += " The running answer switches to it at its next step."
	}
	return said, err
}

// ownDefault is the model that a session has when nothing is chosen for it.
func (g *Gateway) ownDefault(key string) model.Ref {
	if a := g.agents.Named(session.AgentOf(key)); a.Primary != "" {
		return g.models.Named(a.Primary)
	}
	ref, _ := g.models.Default()
	return ref
}

// accountOfDefault reads "@account" and "default@account".
func (g *Gateway) accountOfDefault(key, name string) (full string, ok bool) {
	head, id, found := strings.Cut(name, "@")
	if !found || id == "" || head != "" && !strings.EqualFold(head, "default") {
		return "", false
	}
	full = g.ownDefault(key).String() + "@" + id
	_, id, ok = profile.ParseRef(full)
	return full, ok && id != ""
}

// asPin leaves the model out of a choice that is the session's default with one
// account: then only the account was chosen, and fallbacks still stand in for it
// (model-failover.md, "user-pinned profiles").
func (g *Gateway) asPin(key, name string) string {
	ref, id, ok := profile.ParseRef(name)
	if ok && id != "" && ref == g.ownDefault(key) {
		return "@" + id
	}
	return name
}

// noModel says why a name cannot be chosen.
func (g *Gateway) noModel(name string, err error) string {
	name = strings.ReplaceAll(name, "`", "")
	if ref, _, ok := profile.ParseRef(name); ok && !g.mayChoose(ref) {
		return fmt.Sprintf("`%s` may not be chosen here: it does not stand in agents.defaults.models. `/model` lists what may; add it there to allow it.", name)
	}
	return fmt.Sprintf("No model here is called `%s`. `/model` lists them.", name)
}

// checkAccount refuses an account that does not exist.
func (g *Gateway) checkAccount(name string) error {
	ref, id, _ := profile.ParseRef(name)
	if id == "" || g.book == nil {
		return nil
	}
	if len(g.book.Candidates(ref.Provider, ref.Model, profile.Pin{Profile: id, User: true}, g.opts.Now())) == 0 {
		return fmt.Errorf("there is no account `%s` for %s. `hearth models auth` lists them", strings.ReplaceAll(id, "`", ""), ref.Provider)
	}
	return nil
}

func (g *Gateway) listModels(key string) (string, error) {
	row, _, err := g.session.Get(key)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Model: **%s**\n\n", g.modelWords(row))
	aliases := g.config.Snapshot().Config.Agents.Defaults.Models
	for _, e := range g.models.Models() {
		if !g.mayChoose(e.Ref) {
			continue
		}
		fmt.Fprintf(&b, "- `%s`", e.Ref)
		if a := aliases[e.Ref.String()].Alias; a != "" {
			fmt.Fprintf(&b, " (`%s`)", a)
		}
		if e.ContextWindow > 0 {
			fmt.Fprintf(&b, ", %d tokens", e.ContextWindow)
		}
		if !e.Tools {
			b.WriteString(", without tools")
		}
		if !e.Available {
			fmt.Fprintf(&b, ": not available: %s", e.Reason)
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nChoose one with `/model provider/model`, an account with `/model provider/model@account`, go back with `/model default`.")
	return b.String(), nil
}

// modelWords tells which model a session has and, while another one answers in
// its place, which and why.
func (g *Gateway) modelWords(row protocol.SessionRow) string {
	def, source := g.models.Default()
	name := def.String() + " (default, " + source + ")"
	if row.ModelOverride {
		name = row.ModelProvider + "/" + row.Model + " (chosen for this session)"
	}
	if f := row.Fallback; f != nil {
		name = fmt.Sprintf("%s (selected); %s answers now: %s", f.Selected, f.Active, failover.Reason(f.Reason).Words())
	}
	if row.AuthProfile != "" {
		how := ""
		if row.AuthProfileSource == "user" {
			how = ", chosen for this session"
		}
		name += "; account " + row.AuthProfile + how
	}
	return name
}

// windowWords tells how much of the room of the model that answers a session is
// taken.
func (g *Gateway) windowWords(row protocol.SessionRow) string {
	ref := g.ownDefault(row.Key)
	if row.ModelOverride || row.OverrideModel != "" {
		ref = model.Ref{Provider: row.ModelProvider, Model: row.Model}
	}
	window := 0
	for _, e := range g.models.Models() {
		if e.Ref == ref {
			window = e.ContextWindow
		}
	}
	return contextWords(row.ContextUsed, window)
}

func contextWords(used, window int) string {
	switch {
	case window <= 0 && used <= 0:
		return "not known; Hearth keeps within 32K tokens"
	case window <= 0:
		return tokenCount(used) + " tokens; the model's window is not known, Hearth keeps within 32K"
	case used <= 0:
		return tokenCount(window) + " tokens, how much of it is used is known after the next answer"
	}
	return fmt.Sprintf("%s of %s, %d %%", tokenCount(used), tokenCount(window), min(100, (used*100+window/2)/window))
}

// tokenCount is a number of tokens as people say it.
func tokenCount(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 10_000 && n%1000 >= 50:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1000), ".0") + "K"
	case n < 1_000_000:
		return strconv.Itoa((n+500)/1000) + "K"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1_000_000), ".0") + "M"
}
