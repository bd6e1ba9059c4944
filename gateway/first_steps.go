package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/setup"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/undo"
	"github.com/hearth-assistant/hearth/gateway/workspace"
	"github.com/hearth-assistant/hearth/internal/text"
)

// openSetup opens the first steps. Whoever has conversations already is past
// them.
func (g *Gateway) openSetup(ctx context.Context) (err error) {
	used := func() (bool, error) {
		l, err := g.session.List(ctx, protocol.SessionsListParams{Limit: 1})
		return len(l.Sessions) > 0, err
	}
	if g.setup, err = setup.Load(ctx, g.store, used, g.tellSetup); err != nil {
		return &StartError{What: "The first steps could not be read", Err: err, Fix: "Restore the store from a backup"}
	}
	g.trying = setup.NewFlow(setup.Options{
		Book: g.setup, Hands: setupHands{g}, Changed: g.tellSetup, Now: g.opts.Now,
		Go: g.work.Go,
	})
	return g.settleModel(ctx)
}

// settleModel settles the first step for people who have chosen a model in
// another way: in the settings, or by adding an account.
func (g *Gateway) settleModel(ctx context.Context) error {
	_, source := g.models.Default()
	chosen := g.setup.Held() && g.modelIsChosen() || g.around() && source == provider.SourceConfigured
	if !chosen {
		return nil
	}
	return g.setup.Set(ctx, setup.Model, setup.Done)
}

// tellSetup tells clients how the first steps stand.
func (g *Gateway) tellSetup() {
	if g.setup == nil || g.trying == nil {
		return
	}
	g.server.Broadcast(server.Broadcast{Event: protocol.EventSetup, Payload: g.setupState()})
}

// hasModel reports whether a message's own turn says which model answers it.
func (g *Gateway) hasModel(rec session.Run) bool {
	sel, err := g.session.Selection(rec)
	return err != nil || g.choice.OfAgent(sel).Ref != model.Ref{}
}

// lookedForModels tells what is there now.
func (g *Gateway) lookedForModels(ctx context.Context, first bool) {
	if err := g.settleModel(ctx); err != nil {
		g.log.Warn("the first step could not be kept", "err", err)
	}
	g.tellSetup()
	if !first {
		return
	}
	if err := g.trying.Resume(); err != nil {
		g.log.Warn("the download of a model does not go on", "err", err)
	}
}

func (g *Gateway) modelIsChosen() bool {
	ref, source := g.models.Default()
	if source == provider.SourceConfigured {
		return true
	}
	doing, _ := g.trying.State()
	pending := g.setup.Get().Pending
	return doing == nil && slices.ContainsFunc(g.book.Accounts(), func(a profile.Account) bool {
		return a.Provider == ref.Provider && a.Source == profile.SourceStored && a.ID != pending
	})
}

// setupHands do what the first steps need with the rooms that there are.
type setupHands struct{ g *Gateway }

// Choices lists models on this computer, then logins of other programs, then
// keys of the environment.
func (h setupHands) Choices() []setup.Choice {
	var local, weak, keys []setup.Choice
	services := map[string]bool{}
	for _, e := range h.g.models.Models() {
		c := setup.Choice{ID: e.Ref.String(), Name: e.Name, Service: e.Service, Model: e.Ref.String()}
		switch {
		case e.BuiltIn || !e.Available || e.Away:
		case e.Source == provider.SourceLocal:
			c.Kind, c.Name = setup.KindLocal, setup.NameOf(e.Name)
			if e.Tools {
				local = append(local, c)
			} else {
				weak = append(weak, c)
			}
		case e.Source == provider.SourceEnvironment && !services[e.Ref.Provider] && !h.g.hasStored(e.Ref.Provider):
			services[e.Ref.Provider] = true
			c.Kind = setup.KindKey
			keys = append(keys, c)
		}
	}
	return slices.Concat(local, weak, h.logins(), keys)
}

func (h setupHands) logins() (out []setup.Choice) {
	for _, s := range h.g.foreignLogins() {
		if s.Present() && !h.g.hasStored(s.Provider) {
			out = append(out, setup.Choice{ID: setup.KindLogin + ":" + s.ID, Kind: setup.KindLogin, Name: s.Name, Service: provider.NameOf(s.Provider), Caution: s.Caution})
		}
	}
	return out
}

func (g *Gateway) hasStored(service string) bool {
	return slices.ContainsFunc(g.book.Accounts(), func(a profile.Account) bool {
		return a.Provider == service && a.Source == profile.SourceStored
	})
}

// plainly takes the wire's form off an error.
func plainly(err error) error {
	var e *protocol.Error
	if errors.As(err, &e) {
		return errors.New(e.Message)
	}
	return err
}

func (h setupHands) Import(ctx context.Context, login string) (setup.Account, error) {
	r, err := h.g.modelsAuthImport(ctx, protocol.ModelsAuthImportParams{ID: login})
	return setup.Account{ID: r.ProfileID, Service: r.Provider, Caution: r.Warning}, plainly(err)
}

func (h setupHands) Keep(ctx context.Context, service, key string) (setup.Account, error) {
	r, err := h.g.modelsAuthSetKey(ctx, protocol.ModelsAuthSetKeyParams{Provider: service, APIKey: key})
	return setup.Account{ID: r.ProfileID, Service: r.Provider, Place: r.Stored}, err
}

func (h setupHands) Forget(ctx context.Context, a setup.Account) error {
	_, err := h.g.book.Remove(ctx, a.ID)
	h.g.detectAgain()
	return err
}

func (h setupHands) First(service string) (string, bool) {
	ref, ok := h.g.models.First(service)
	return ref.String(), ok
}

func (h setupHands) Test(ctx context.Context, name, account string, window bool) setup.Tested {
	r := h.g.testModel(ctx, protocol.ModelsTestParams{Model: name, ProfileID: account, Context: window})
	return setup.Tested{
		Model: r.Ref.String(), OK: r.OK, Line: r.Line, Notes: r.Notes, Error: r.Error, Refused: r.Why == failover.ReasonAuth,
		Free: h.g.purse.Free(r.Ref) && h.g.models.Nearby(r.Ref),
	}
}

func (h setupHands) Prefer(ctx context.Context, name string) error {
	val := map[string]any{"primary": name}
	if f := h.g.config.Snapshot().Config.Agents.Defaults.Model.Fallbacks; len(f) > 0 {
		val["fallbacks"] = f
	}
	raw, err := json.Marshal(val)
	if err != nil {
		return err
	}
	_, err = h.g.config.SetPath(ctx, "agents.defaults.model", string(raw))
	return err
}

func (h setupHands) Pull(ctx context.Context, name string, tell func(done, total int64)) (string, error) {
	_, err := h.g.pull(ctx, protocol.ModelsPullParams{Model: name}, func(p protocol.ModelsPullProgress) { tell(p.Completed, p.Total) })
	if err != nil {
		return "", plainly(err)
	}
	h.g.models.Detect(ctx)
	return "ollama/" + name, nil
}

// Quiet looks once a second: it is waited for minutes at most, once in a life.
func (h setupHands) Quiet(ctx context.Context) error {
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		if active, queued := h.g.session.Load(); active+queued == 0 {
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// otherAssistants are programs like this one that are set up on this computer.
// Their files are not read.
func (g *Gateway) otherAssistants() []protocol.SetupProgram {
	home := statedir.Home(g.opts.Env)
	out := []protocol.SetupProgram{}
	for _, p := range []protocol.SetupProgram{
		{Name: "OpenClaw", Path: ".openclaw/openclaw.json"}, {Name: "picoclaw", Path: ".picoclaw/config.json"}, {Name: "zeroclaw", Path: ".zeroclaw/config.toml"},
	} {
		p.Path = filepath.Join(home, filepath.FromSlash(p.Path))
		if info, err := os.Stat(p.Path); err == nil && info.Mode().IsRegular() {
			out = append(out, p)
		}
	}
	return out
}

// lookAround lets the guide answer. Where a model was chosen already that one goes
// on, and nothing is left to choose.
func (g *Gateway) lookAround(ctx context.Context) error {
	if st := g.setup.Get().Of(setup.Model); st == setup.Again || g.modelIsChosen() {
		return g.setup.Set(ctx, setup.Model, setup.Done)
	}
	return g.setup.Set(ctx, setup.Model, setup.Skipped)
}

// name tells the assistant who it is, in the file that it reads.
func (g *Gateway) nameAssistant(ctx context.Context, name, style string) error {
	name, style = text.Line(name), text.Line(style)
	if name == "" || len(name) > 60 || len(style) > 300 {
		return protocol.Invalid("A name has 1 to 60 letters, a manner at most 300. Shorten it and save again.")
	}
	text := fmt.Sprintf("# Identity\n\n- Name: %s\n- Emoji: %s\n- Manner: %s\n", name, agents.DefaultEmoji, style)
	turn := undo.Turn{RunID: newUUID(), Tool: protocol.MethodAgentsFilesSet}
	if _, err := g.files.Set(ctx, g.undo, turn, g.agents.Book().Default().Workspace, workspace.Identity, text, ""); err != nil {
		return protocol.Invalid("%v", err)
	}
	return nil
}
