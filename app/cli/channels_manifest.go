package cli

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/channel"
)

func newChannelsManifest(a *app) *cobra.Command {
	var archive string
	var with []string
	c := &cobra.Command{
		Use: "manifest NETWORK", Short: "Print the file that a network makes an application of", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			return runChannelsManifest(ctx, a, args[0], archive, with)
		}),
	}
	c.Flags().StringVar(&archive, "zip", "", "write the archive that the network takes to this `FILE`")
	c.Flags().StringArrayVar(&with, "with", nil, "put this `KEY=VALUE` of an account into it, instead of what the settings say")
	return c
}

func runChannelsManifest(ctx context.Context, a *app, network, archive string, with []string) error {
	k, ok := gateway.Networks().Get(network)
	if !ok {
		return usage("there is no network %q; `hearth channels add` lists them", line(network))
	}
	if k.Manifest.Text == "" {
		return &failure{exitFailure, k.Label + " takes no manifest", "`hearth channels add " + k.ID + "` says what to do there"}
	}
	values, err := filled(ctx, a, k, with)
	if err != nil {
		return err
	}
	text, missing := k.Manifest.Filled(values)
	switch {
	case archive == "":
		return a.out().print(text)
	case k.Manifest.Pack == nil:
		return usage("%s takes the file itself, which is printed without --zip", k.Label)
	case len(missing) > 0:
		return &failure{exitFailure, "it needs " + strings.Join(missing, ", ") + ", which no setting has yet",
			"hearth channels manifest " + k.ID + " --with " + missing[0] + "=… --zip " + line(archive)}
	}
	b, err := k.Manifest.Pack(text)
	if err != nil {
		return err
	}
	if err := writeWhole(archive, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
		return err
	}
	return a.out().print(line(archive) + " is written: give it to " + k.Label + " as it is.\n")
}

// filled are the values that a manifest wants, by their keys.
func filled(ctx context.Context, a *app, k channel.Kind, with []string) (map[string]string, error) {
	values := map[string]string{}
	if len(k.Manifest.Fill) == 0 && len(with) == 0 {
		return values, nil
	}
	s, err := a.settings(ctx)
	for _, key := range k.Manifest.Fill {
		if err != nil {
			break // without a file there are no settings
		}
		if v, _, err := s.Get("channels." + k.ID + "." + key); err == nil {
			var text string
			if json.Unmarshal(v, &text) == nil && text != "" {
				values[key] = text
			}
		}
	}
	for _, pair := range with {
		key, typed, _ := strings.Cut(pair, "=")
		i := -1
		for n, setting := range k.Settings {
			if setting.Key == key {
				i = n
			}
		}
		if i < 0 || k.Settings[i].Form == channel.SecretText {
			return nil, usage("--with: %s has no setting %q that stands in a manifest", k.Label, line(key))
		}
		value, why := k.Answer(k.Settings[i], typed)
		text, ok := value.(string)
		if why != "" || !ok {
			return nil, usage("--with %s: %s", line(key), why)
		}
		values[key] = text
	}
	return values, nil
}
