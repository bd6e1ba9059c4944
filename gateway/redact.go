package gateway

import (
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// hide keeps values out of every log, answer and model request from now on.
// Whoever comes by a key that the settings do not name hands it in here.
func (g *Gateway) hide(values ...secret.Secret) {
	for _, v := range values {
		g.redactor.Add(v.Reveal())
	}
}

// knowSecrets hides what the settings and the environment hold.
func (g *Gateway) knowSecrets(c config.Config, token string) {
	g.redactor.Add(token)
	for _, f := range secretFields(c) {
		if v, ok := g.refs.Known(f.setting); ok {
			g.hide(v)
		}
	}
	for _, name := range provider.KeyNames() {
		g.redactor.Add(g.opts.Env(name))
	}
}
