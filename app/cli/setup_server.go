package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// isAddress tells the address of a server from the name of a model.
func isAddress(choice string) bool {
	return strings.HasPrefix(choice, "http://") || strings.HasPrefix(choice, "https://")
}

// maxServed is how many models of a server are written into the settings.
const maxServed = 40

// askServer asks for the address of a server, and for its key where it wants one.
func (w *wizard) askServer(ctx context.Context, in *bufio.Reader) error {
	address, err := w.question(in, "The server's address, for example http://127.0.0.1:8080: ")
	if err != nil {
		return err
	}
	if address == "" {
		return &failure{exitFailure, "no address was typed, so nothing was added", "choose again"}
	}
	return w.useServer(ctx, address)
}

// useServer looks what a server at an address has, keeps it in the settings, and lets
// its first model answer, as the page does.
func (w *wizard) useServer(ctx context.Context, address string) error {
	p, found := protocol.ModelsLookParams{Address: address}, protocol.ModelsLook{}
	err := w.c.Call(ctx, protocol.MethodModelsLook, p, &found)
	var refusal *protocol.Error
	if errors.As(err, &refusal) && refusal.Details["code"] == "SERVER_KEY" {
		if !w.a.InTerminal {
			return &failure{exitFailure, "the server at " + line(address) + " wants a key",
				"run `hearth setup` in a terminal, which asks for it, or add the server on the page: Settings → Models & keys"}
		}
		if err := w.a.keepable(ctx, w.c); err != nil {
			return err
		}
		if p.Key, err = w.a.typed("The key of that server (it is not shown): "); err != nil {
			return fmt.Errorf("read the key: %w", err)
		}
		p.Key = strings.TrimSpace(p.Key)
		err = w.c.Call(ctx, protocol.MethodModelsLook, p, &found)
	}
	if err != nil {
		return err
	}
	name, err := w.keepServer(ctx, found, p.Key)
	if err != nil {
		return err
	}
	if n := len(found.Models); n > 1 && !w.a.asJSON {
		words := fmt.Sprintf("It has %d models; %s is tried. `hearth models set %s/MODEL` chooses another one.", n,
			line(found.Models[0].ID), name)
		if err := w.a.errs().print(w.a.folded("", words), "\n"); err != nil {
			return err
		}
	}
	return w.answer(ctx, protocol.SetupAnswerParams{Step: "model", Do: "use", Choice: name + "/" + found.Models[0].ID})
}

// keepServer writes a server into the settings, unless it stands there, and returns its
// name.
func (w *wizard) keepServer(ctx context.Context, found protocol.ModelsLook, key string) (string, error) {
	if len(found.Models) == 0 {
		return "", &failure{exitFailure, "the server at " + line(found.Address) + " has no model that talks", "load one there, then try again"}
	}
	if name, err := w.serverAt(ctx, found.Address); err != nil || name != "" && key == "" {
		return name, err
	}
	service := map[string]any{"baseUrl": found.Address, "api": found.API}
	if key != "" {
		at := "models.providers." + found.Name + ".apiKey"
		if err := w.c.Call(ctx, protocol.MethodSecretsSet, protocol.SecretSetParams{Name: at, Value: key}, nil); err != nil {
			return "", err
		}
		service["apiKey"] = "keychain:" + at
	}
	var models []map[string]any
	for _, m := range found.Models[:min(len(found.Models), maxServed)] {
		model := map[string]any{"id": m.ID}
		if m.Name != m.ID {
			model["name"] = m.Name
		}
		if m.ContextWindow > 0 {
			model["contextWindow"] = m.ContextWindow
		}
		if len(m.Input) > 0 {
			model["input"] = m.Input
		}
		models = append(models, model)
	}
	service["models"] = models
	raw, err := json.Marshal(map[string]any{"models": map[string]any{"providers": map[string]any{found.Name: service}}})
	if err != nil {
		return "", err
	}
	return found.Name, w.a.patchSettings(ctx, w.c, string(raw))
}

// serverAt is the name under which a server stands in the settings, "" for none.
func (w *wizard) serverAt(ctx context.Context, address string) (string, error) {
	var got protocol.ConfigSnapshot
	if err := w.c.Call(ctx, protocol.MethodConfigGet, nil, &got); err != nil {
		return "", err
	}
	var settings struct {
		Models struct {
			Providers map[string]struct {
				BaseURL string `json:"baseUrl"`
			} `json:"providers"`
		} `json:"models"`
	}
	if json.Unmarshal(got.Config, &settings) != nil {
		return "", nil // what is odd there is for `hearth config check`
	}
	var names []string
	for name, s := range settings.Models.Providers {
		if strings.TrimSuffix(s.BaseURL, "/") == strings.TrimSuffix(address, "/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return append(names, "")[0], nil
}
