// Package dial connects a program of this machine to the gateway of a state
// folder with the token that holds: the token file's or, where the settings
// name one, that. It reads settings for nothing else. It also says how a link
// leads to a part of the page.
package dial

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/pairing/token"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Open connects to the gateway of dir; it fills URL and Token of o. env looks
// up environment variables, which settings may refer to. A gateway that is not
// there is a *client.NotRunningError.
func Open(ctx context.Context, dir statedir.Dir, env func(string) string, o client.Options) (*client.Client, error) {
	c, err := client.Open(ctx, dir, o)
	var refusal *protocol.Error
	if !errors.As(err, &refusal) || refusal.Details["code"] != "AUTH_TOKEN_MISMATCH" {
		return c, err
	}
	// gateway.auth.token in the settings takes the place of the token file.
	s, serr := config.Inspect(dir.Config(env), config.Options{
		Sections: config.Sections{token.Section}, Env: func(name string) (string, bool) { v := env(name); return v, v != "" },
	})
	if serr != nil {
		return nil, err
	}
	own, ok := token.Section.Of(s.Config).Token.Literal()
	if !ok {
		return nil, err
	}
	if o.URL, _, serr = client.Find(dir); serr != nil {
		return nil, err
	}
	o.Token = own.Reveal()
	return client.Dial(ctx, o)
}
