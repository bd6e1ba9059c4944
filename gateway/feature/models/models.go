// Package models is the feature that shows which models there are and lets a
// person choose, try and download them: the methods models.list, models.test,
// hearth.models.pull and hearth.models.look, the command /model, and what `hearth doctor` says of models
// and their accounts. Which model may be chosen is package choice's.
package models

import (
	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/accounts"
	"github.com/hearth-assistant/hearth/gateway/provider/catalog"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/provider/download"
	"github.com/hearth-assistant/hearth/gateway/provider/turn"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Settings  *config.File
	Models    *provider.Registry
	Choice    *choice.Chooser
	Catalog   *catalog.Catalog
	Accounts  *accounts.Accounts
	Turns     *turn.Models
	Trials    *turn.Trials
	Downloads *download.Downloads
	Sessions  *session.Manager
	Clock     *clock.Clock
}

type feature struct{ Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := feature{o}
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodModelsList, f.Catalog.List),
			method.Plain(protocol.MethodModelsTest, f.test),
			method.Plain(protocol.MethodModelsPull, f.pull),
			method.Plain(protocol.MethodModelsLook, f.look),
			method.Plain(protocol.MethodModelsServices, f.services),
		},
		Commands: []command.Command{{Spec: command.Spec{
			Name: "model", Args: "[provider/model|default]", Description: "Show or choose the model of this session", Category: "options",
		}, Do: f.cmdModel}},
		Checks: f.checks,
	}
}
