package settings

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// schema tells clients which keys there are. What stands beside them in the file
// is kept.
func (f feature) schema(context.Context, method.None) (protocol.ConfigSchema, error) {
	sections := f.Settings.Sections()
	raw, err := json.Marshal(sections.Schema())
	if err != nil {
		return protocol.ConfigSchema{}, fmt.Errorf("describe the settings: %w", err)
	}
	sum := sha256.Sum256(raw) // another one when there are other keys
	out := protocol.ConfigSchema{
		Schema: raw, UIHints: map[string]protocol.ConfigHint{},
		Version: hex.EncodeToString(sum[:6]), GeneratedAt: f.Now().UTC().Format(time.RFC3339),
	}
	for i, d := range sections.Describe() {
		h := hintOf(d)
		h.Order = i + 1
		out.UIHints[d.AnyName()] = h
	}
	return out, nil
}

// hintOf is what a form is told about a key.
func hintOf(d config.Described) protocol.ConfigHint {
	return protocol.ConfigHint{
		Label: d.Label, Help: d.Help, Group: d.Hint.Pane, Advanced: d.Hint.Advanced, Sensitive: d.Secret, Placeholder: d.Hint.Example,
		Feature: d.Feature, Model: d.Hint.Model, On: d.Hint.On, Off: d.Hint.Off, Whole: d.Hint.Whole,
	}
}

func reloadOf(d config.Described) string {
	if d.Hint.Restart {
		return protocol.ReloadRestart
	}
	return protocol.ReloadHot
}

// lookup tells what is known of one place.
func (f feature) lookup(_ context.Context, p protocol.ConfigLookupParams) (protocol.ConfigLookup, error) {
	found, ok := f.Settings.Sections().Lookup(p.Path)
	if !ok {
		return protocol.ConfigLookup{}, protocol.InvalidParams(protocol.MethodConfigSchemaLookup,
			"nothing is known of the setting %q; config.schema lists all that there are", p.Path)
	}
	raw, err := json.Marshal(found.Schema)
	if err != nil {
		return protocol.ConfigLookup{}, fmt.Errorf("describe a setting: %w", err)
	}
	h := hintOf(found.Described)
	out := protocol.ConfigLookup{
		Path: p.Path, Schema: raw, ReloadKind: reloadOf(found.Described), Hint: &h, HintPath: found.At, Children: []protocol.ConfigChild{},
	}
	for _, c := range found.Children {
		h := hintOf(c.Described)
		typ, err := json.Marshal(c.Schema.Type)
		if err != nil {
			return protocol.ConfigLookup{}, fmt.Errorf("describe a setting: %w", err)
		}
		key := strings.TrimPrefix(strings.TrimPrefix(c.At, found.At), ".")
		out.Children = append(out.Children, protocol.ConfigChild{
			Key: key, Path: c.At, Type: typ, HasChildren: c.Described.Children > 0, ReloadKind: reloadOf(c.Described), Hint: &h, HintPath: c.At,
		})
	}
	return out, nil
}
