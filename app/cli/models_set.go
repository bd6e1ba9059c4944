package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newModelsSet(a *app) *cobra.Command {
	var fallbacks []string
	var none bool
	c := &cobra.Command{Use: "set MODEL", Short: "Choose the model that answers by default", Args: cobra.ExactArgs(1),
		Long: "Choose the model that answers by default: its name as in `hearth models list`, or\n" +
			"its alias. Fallbacks answer, in their order, when it fails; those that are set\nstay when none is given.",
		Example: "  hearth models set ollama/qwen3:8b\n  hearth models set anthropic/claude-sonnet-4-5 --fallback ollama/qwen3:8b",
		RunE:    a.run(func(ctx context.Context, args []string) error { return setModel(ctx, a, args[0], fallbacks, none) })}
	c.Flags().StringArrayVar(&fallbacks, "fallback", nil, "a model that answers when it fails; may be given several times")
	c.Flags().BoolVar(&none, "no-fallback", false, "no other model answers in its place")
	c.MarkFlagsMutuallyExclusive("fallback", "no-fallback")
	return c
}

type modelsSetJSON struct {
	Primary   string   `json:"primary"`
	Fallbacks []string `json:"fallbacks"`
}

func setModel(ctx context.Context, a *app, name string, fallbacks []string, none bool) error {
	var l protocol.ModelsList
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodModelsList, protocol.ModelsListParams{View: "all"}, &l); err != nil {
		return err
	}
	primary, err := a.pickModel(ctx, l.Models, name)
	if err != nil {
		return err
	}
	val := map[string]any{"primary": primary}
	res := modelsSetJSON{Primary: primary, Fallbacks: []string{}}
	for _, f := range fallbacks {
		ref, err := a.pickModel(ctx, l.Models, f)
		if err != nil {
			return err
		}
		if ref == primary {
			return usage("%s cannot stand in for itself", line(ref))
		}
		res.Fallbacks = append(res.Fallbacks, ref)
	}
	switch {
	case len(fallbacks) > 0 || none:
		val["fallbacks"] = res.Fallbacks
	default:
		s, err := a.settings(ctx)
		if err != nil {
			return err
		}
		if raw, ok, err := s.InUse("agents.defaults.model.fallbacks"); err != nil {
			return err
		} else if ok {
			if err := json.Unmarshal(raw, &res.Fallbacks); err != nil {
				return err
			}
		}
		val["fallbacks"] = res.Fallbacks
	}
	raw, err := json.Marshal(val)
	if err != nil {
		return err
	}
	const path = "agents.defaults.model"
	patch := fmt.Sprintf(`{"agents":{"defaults":{"model":%s}}}`, raw)
	b := *a
	b.asJSON, b.Err = false, discard{}
	if err := b.editSettings(ctx, path, patch, "set", func(f *config.File) (*config.Snapshot, error) {
		return f.SetPath(ctx, path, string(raw))
	}); err != nil {
		return err
	}
	words := primary + " answers from now on."
	if len(res.Fallbacks) > 0 {
		words += " When it fails: " + strings.Join(res.Fallbacks, ", ") + "."
	}
	return a.done(res, line(words)+" Try it with `hearth models test`.")
}

// discard takes what another command would say.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// pickModel finds a model by name, alias, or the part behind the provider. A
// service may have models that no list holds: a full name of one that is set up is
// believed, with a word of caution.
func (a *app) pickModel(ctx context.Context, list []protocol.ModelInfo, name string) (string, error) {
	name = strings.TrimSpace(name)
	provider, _, full := strings.Cut(name, "/")
	var short []string
	for _, m := range list {
		ref := m.Provider + "/" + m.ID
		if ref == name || m.Alias != "" && strings.EqualFold(m.Alias, name) {
			if m.Available {
				return ref, nil
			}
			return "", notAvailable(&m)
		}
		if m.ID == name && m.Available {
			short = append(short, ref)
		}
	}
	if len(short) == 1 {
		return short[0], nil
	}
	if len(short) > 1 {
		return "", &failure{exitFailure, fmt.Sprintf("several services have %q", line(name)), "name one of " + line(strings.Join(short, ", "))}
	}
	for _, m := range list {
		if full && m.Provider == provider {
			if !m.Available {
				return "", notAvailable(&m)
			}
			return name, a.unlisted(name)
		}
	}
	if full && a.setUp(ctx, provider) {
		return name, a.unlisted(name)
	}
	return "", &failure{exitFailure, fmt.Sprintf("there is no model %q", line(name)), "`hearth models list --all` shows what there is"}
}

// setUp: the settings name a service of this id, which may have no list of models.
func (a *app) setUp(ctx context.Context, provider string) bool {
	s, err := a.settings(ctx)
	if err != nil {
		return false
	}
	_, ok, err := s.InUse("models.providers." + provider)
	return ok && err == nil
}

func (a *app) unlisted(name string) error {
	return a.errs().print(yellow("Note: "), line(name),
		" is not on the list of its service. `hearth models test` tells whether it is there.\n")
}

func notAvailable(m *protocol.ModelInfo) error {
	why := "it cannot be asked"
	if m.Hearth != nil && m.Hearth.Reason != "" {
		why = m.Hearth.Reason
	}
	return &failure{exitFailure, line(m.Provider+"/"+m.ID) + " is not available", line(why)}
}
