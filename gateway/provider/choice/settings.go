package choice

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Defaults are the models of every assistant that names none.
type Defaults struct {
	Model      config.ModelChoice
	Aliases    map[string]string  // the models that may be chosen, with a short name or ""; nil: all
	ImageModel config.ModelChoice // describes pictures; empty: one that can
	MaxTokens  int                // 0: the provider's default
}

// Section are the settings of which models answer.
var Section = &config.Settings[Defaults]{
	Path: "agents.defaults", Name: "models",
	Fields: func(d *Defaults) []config.Field {
		return []config.Field{
			d.Model.Field("model", "`\"provider/model\"`, or `{ primary, fallbacks }`: the model to use, and models to try, in this order, when it "+
				"fails. A model that you chose yourself for a conversation is not replaced by them",
				config.Hint{Pane: "models", Default: "the best that is found"}),
			d.ImageModel.Field("imageModel", "the model that describes pictures (`image`), \"provider/model\" or `{ primary, fallbacks }`",
				config.Hint{Pane: "models", Default: "one that can see"}),
			config.Map[string]{
				Key: "models", To: &d.Aliases, Name: "<model>", Is: modelName, Hint: config.Hint{Default: "all models"},
				Help: "the models that may be chosen with `/model`, each `\"provider/model\": { alias? }`. The default and its fallbacks always may",
				One: func(ref string, alias *string) config.Field {
					return config.Object{Fields: []config.Field{
						config.Text{
							Key: "alias", To: alias, Max: 64, Empty: true, Is: d.alias(ref),
							Help: "a short name: with `alias: \"opus\"`, `/model opus` chooses it",
						},
						config.Later("params", "streaming", "agentRuntime"),
					}}
				},
			},
			config.Number{
				Key: "maxTokens", To: &d.MaxTokens, Min: 1, Max: 100_000_000, Hint: config.Hint{Default: "the provider's"},
				Help: "the longest answer to ask for",
			},
		}
	},
}

func modelName(ref string) error {
	_, err := config.ModelName(ref)
	if len(ref) > 512 {
		return errors.New("a model is named \"provider/model\", in 512 bytes at most")
	}
	return err
}

// alias judges a short name among the others.
func (d *Defaults) alias(ref string) func(string) (string, error) {
	return func(s string) (string, error) {
		s = strings.TrimSpace(s)
		if strings.ContainsAny(s, "/@ \t\n") {
			return "", errors.New("an alias has no spaces, / or @")
		}
		for other, taken := range d.Aliases {
			if other != ref && strings.EqualFold(taken, s) {
				return "", fmt.Errorf("this alias is already the one of %s", other)
			}
		}
		return s, nil
	}
}
