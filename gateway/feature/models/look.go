package models

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// look asks a server that a person names which models it has.
func (f feature) look(ctx context.Context, p protocol.ModelsLookParams) (protocol.ModelsLook, error) {
	var out protocol.ModelsLook
	var key secret.Secret
	if strings.TrimSpace(p.Key) != "" {
		var err error
		if key, err = secret.CleanKey(p.Key); err != nil {
			return out, err
		}
	}
	if !provider.OnThisComputer(p.Address) {
		if err := f.Trials.May(model.Ref{Provider: "new server"}); err != nil { // a pause of the network
			return out, err
		}
	}
	s, err := f.Models.Look(ctx, p.Address, key.Reveal())
	var why *provider.LookError
	if errors.As(err, &why) {
		return out, protocol.Invalid("%s", why.Message).With("code", why.Code)
	}
	if err != nil {
		return out, err
	}
	out = protocol.ModelsLook{Address: s.Address, API: s.API, Kind: s.Kind, Name: f.freeName(s.Name), Models: []protocol.ServedModel{}}
	for _, m := range s.Models {
		out.Models = append(out.Models, protocol.ServedModel{ID: m.ID, Name: m.Name, ContextWindow: m.ContextWindow, Input: m.Input})
	}
	return out, nil
}

// freeName is a name that no service of the settings has.
func (f feature) freeName(name string) string {
	taken := provider.Section.Of(f.Settings.Snapshot().Config).Services
	if name = strings.ToLower(name); name == "" {
		name = "server"
	}
	free := name
	for n := 2; ; n++ {
		if _, ok := taken[free]; !ok {
			return free
		}
		free = fmt.Sprintf("%s-%d", name, n)
	}
}

// services names the known services and what each needs.
func (f feature) services(context.Context, method.None) (protocol.ModelServices, error) {
	out := protocol.ModelServices{Services: []protocol.ModelService{}}
	for _, s := range provider.KnownServices() {
		out.Services = append(out.Services, protocol.ModelService{
			ID: s.ID, Name: s.Name, KeyPage: s.KeyPage, Local: s.Local, Address: s.Address, Needs: append([]string{}, s.Needs...),
			Deployment: s.Deployment,
		})
	}
	return out, nil
}
