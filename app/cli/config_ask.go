package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// networkSetting is the setting of a network that a path names.
func networkSetting(path string) (k channel.Kind, s channel.Setting, ok bool) {
	at := strings.Split(path, ".")
	if len(at) != 3 && (len(at) != 5 || at[2] != "accounts") || at[0] != "channels" {
		return k, s, false
	}
	if k, ok = gateway.Networks().Get(at[1]); !ok {
		return k, s, false
	}
	for _, s := range k.Settings {
		if s.Key == at[len(at)-1] {
			return k, s, true
		}
	}
	return k, s, false
}

// textual is the literal of a value: what a network's setting has as text is text, also
// when it looks like a number, as those of phones do.
func textual(path, value string) string {
	if _, s, ok := networkSetting(path); ok && (s.Form == channel.Words || s.Form == channel.SecretText) &&
		value != "" && value != "null" && !strings.ContainsAny(value[:1], `"'{[`) {
		if b, err := json.Marshal(value); err == nil {
			return string(b)
		}
	}
	return config.Literal(value)
}

// pathAndValue lets the value be missing where it is asked for.
func pathAndValue(c *cobra.Command, args []string) error {
	if len(args) == 1 {
		if _, s, ok := networkSetting(args[0]); ok && s.Form == channel.SecretText {
			return nil
		}
	}
	return cobra.ExactArgs(2)(c, args)
}

// askSecret asks for a secret of a network's account, keeps it and names it in the
// settings.
func askSecret(ctx context.Context, a *app, path string) error {
	k, s, _ := networkSetting(path)
	if !a.InTerminal {
		return usage("this asks for %s: run it in a terminal, or give it on standard input with `hearth config set %s -`", s.Key, line(path))
	}
	if err := a.readyToKeep(ctx); err != nil {
		return err
	}
	text, err := a.typed(a.folded("", s.Key+": "+s.About+" (it is not shown)") + ": ")
	if err != nil {
		return fmt.Errorf("read %s: %w", s.Key, err)
	}
	text = strings.TrimSpace(text)
	if _, why := k.Answer(s, text); why != "" || text == "" {
		if why == "" {
			why = "nothing was typed"
		}
		return &failure{exitFailure, "nothing was kept: " + line(why), "docs/channels/" + k.ID + ".md says where it stands"}
	}
	if err := keepSecret(ctx, a, path, text); err != nil {
		return err
	}
	return runConfigSet(ctx, a, path, "keychain:"+path)
}

// readyToKeep asks where secrets are kept before one is typed, where nothing says it.
func (a *app) readyToKeep(ctx context.Context) error {
	if !a.InTerminal {
		return nil
	}
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeAdmin}})
	if err != nil {
		return nil // without a gateway the place itself asks
	}
	defer c.Close()
	return a.keepable(ctx, c)
}
