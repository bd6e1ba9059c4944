package token

import (
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Configured is what the file says of the token.
type Configured struct{ Token config.Secret } // none: the generated one of the state folder

// short is the length below which a token does not serve other machines.
const short = 16

// Section are the settings of the token.
var Section = &config.Settings[Configured]{
	Path: "gateway.auth",
	Fields: func(c *Configured) []config.Field {
		return []config.Field{
			config.Choice{
				Key: "mode", Among: []string{"token"}, Read: mode, Help: "how programs prove themselves. The only mode so far",
			},
			config.Hidden{
				Key: "token", To: &c.Token, Check: Check, Stays: true, Hint: config.Hint{Default: "made on first start"},
				Help: "the shared token. Leave it out and Hearth makes one and keeps it in the state folder. One of fewer than 16 characters " +
					"counts on this machine only: while other machines can reach Hearth it uses one that it made",
			},
			config.Later("password", "allowTailscale", "rateLimit", "trustedProxy"),
		}
	},
}

// mode tells those who bring another gateway's file how it is here.
func mode(v config.Value) string {
	switch word, _ := v.Word(); word {
	case "none", "password", "trusted-proxy":
		v.Warn("%q is not used: a token is asked for, and the page signs in by the link of `hearth open`", word)
		return ""
	}
	return v.Choice("token")
}

// Check guards everything: an empty token is refused, one that can be guessed
// serves this machine only.
func Check(s string) error {
	switch {
	case s == "":
		return errors.New("an empty token would let everybody in; remove the key to let Hearth make one")
	case len(s) < short:
		return config.Notice(fmt.Sprintf("it has fewer than %d characters, so it counts on this machine only; while other machines can reach "+
			"Hearth it uses one that it made. Make it longer, or remove the key", short))
	}
	return nil
}
