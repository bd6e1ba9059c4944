package onboarding

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/modelcheck"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/setup"
)

// Choices lists models on this computer, then logins of other programs, then
// keys of the environment.
func (f *feature) Choices() []setup.Choice {
	var local, weak, keys []setup.Choice
	services := map[string]bool{}
	for _, e := range f.Models.Models() {
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
		case e.Source == provider.SourceEnvironment && !services[e.Ref.Provider] && !f.hasStored(e.Ref.Provider):
			services[e.Ref.Provider] = true
			c.Kind = setup.KindKey
			keys = append(keys, c)
		}
	}
	return slices.Concat(local, weak, f.logins(), keys)
}

func (f *feature) logins() (out []setup.Choice) {
	for _, s := range f.Adding.Accounts.Foreign() {
		if s.Present() && !f.hasStored(s.Provider) {
			out = append(out, setup.Choice{ID: setup.KindLogin + ":" + s.ID, Kind: setup.KindLogin, Name: s.Name,
				Service: provider.NameOf(s.Provider), Caution: s.Caution})
		}
	}
	return out
}

func (f *feature) hasStored(service string) bool {
	return slices.ContainsFunc(f.Adding.Accounts.Book().Accounts(), func(a profile.Account) bool {
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

// Import takes the login of another program.
func (f *feature) Import(ctx context.Context, login string) (setup.Account, error) {
	r, err := f.Adding.Import(ctx, protocol.ModelsAuthImportParams{ID: login})
	return setup.Account{ID: r.ProfileID, Service: r.Provider, Caution: r.Warning}, plainly(err)
}

// Keep stores a key.
func (f *feature) Keep(ctx context.Context, service, key string) (setup.Account, error) {
	r, err := f.Adding.Key(ctx, protocol.ModelsAuthSetKeyParams{Provider: service, APIKey: key})
	return setup.Account{ID: r.ProfileID, Service: r.Provider, Place: r.Stored}, err
}

// Forget removes an account.
func (f *feature) Forget(ctx context.Context, a setup.Account) error {
	_, err := f.Adding.Remove(ctx, a.ID)
	return err
}

// First is the model of a service to begin with.
func (f *feature) First(service string) (string, bool) {
	ref, ok := f.Models.First(service)
	return ref.String(), ok
}

// Test asks a model a few questions.
func (f *feature) Test(ctx context.Context, name, account string, window bool) setup.Tested {
	r := f.Trials.Try(ctx, modelcheck.Ask{Ref: f.Trials.Named(name, ""), Account: account, Window: window})
	return setup.Tested{
		Model: r.Ref.String(), OK: r.OK, Line: r.Line, Notes: r.Notes, Error: r.Error, Refused: r.Why == failover.ReasonAuth,
		Free: f.Budget.Free(r.Ref) && f.Models.Nearby(r.Ref),
	}
}

// Prefer makes a model the one that answers.
func (f *feature) Prefer(ctx context.Context, name string) error {
	val := map[string]any{"primary": name}
	if f := choice.Section.Of(f.Settings.Snapshot().Config).Model.Fallbacks; len(f) > 0 {
		val["fallbacks"] = f
	}
	raw, err := json.Marshal(val)
	if err != nil {
		return err
	}
	_, err = f.Settings.SetPath(ctx, "agents.defaults.model", string(raw))
	return err
}

// Pull downloads a model.
func (f *feature) Pull(ctx context.Context, name string, tell func(done, total int64)) (string, error) {
	_, err := f.Downloads.Pull(ctx, protocol.ModelsPullParams{Model: name}, func(p protocol.ModelsPullProgress) { tell(p.Completed, p.Total) })
	if err != nil {
		return "", plainly(err)
	}
	f.Models.Detect(ctx)
	return "ollama/" + name, nil
}

// Quiet looks once a second: it is waited for minutes at most, once in a life.
func (f *feature) Quiet(ctx context.Context) error {
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		if active, queued := f.Sessions.Load(); active+queued == 0 {
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
