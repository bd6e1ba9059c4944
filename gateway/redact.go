package gateway

import (
	"strings"
	"sync/atomic"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/provider"
)

// minSecret is the shortest text that is hidden by value: hiding shorter ones
// would garble ordinary words.
const minSecret = 8

// redactor hides the secrets that this process knows wherever they would be
// written to the log.
type redactor struct {
	r atomic.Pointer[strings.Replacer]
}

// Redact replaces every known secret in s.
func (x *redactor) Redact(s string) string {
	if r := x.r.Load(); r != nil {
		return r.Replace(s)
	}
	return s
}

func (x *redactor) know(secrets ...string) {
	var pairs []string
	for _, s := range secrets {
		if len(s) >= minSecret {
			pairs = append(pairs, s, "[redacted]")
		}
	}
	x.r.Store(strings.NewReplacer(pairs...))
}

// knowSecrets tells the redactor what to hide from now on.
func (g *Gateway) knowSecrets(c config.Config, token string) {
	secrets := []string{token, string(c.Gateway.Auth.Token)}
	for _, p := range c.Models.Providers {
		secrets = append(secrets, string(p.APIKey))
	}
	for _, name := range provider.KeyNames() {
		secrets = append(secrets, g.opts.Env(name))
	}
	g.secrets.know(secrets...)
}
