// Package claudedesktop reads the settings of Claude Desktop
// (claude_desktop_config.json): the MCP servers in them. Its conversations are not
// on the computer; they come with the export of an account (package claude).
package claudedesktop

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/imports/source"
)

const maxSettings = 4 << 20

// FileName is what the settings are called.
const FileName = "claude_desktop_config.json"

// Fits reports whether this is such a file, or a folder with one.
func Fits(t *source.Tree) bool {
	name := t.Name
	if name == "" {
		name = FileName
	}
	_, err := read(t, name)
	return err == nil
}

func read(t *source.Tree, name string) (map[string]json.RawMessage, error) {
	raw, err := t.Read(name, maxSettings)
	if err != nil {
		return nil, err
	}
	var s struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if s.Servers == nil {
		return nil, fmt.Errorf("%s has no mcpServers", name)
	}
	return s.Servers, nil
}

// Read hands over the servers.
func Read(_ context.Context, t *source.Tree, give imports.Give) error {
	name := t.Name
	if name == "" {
		name = FileName
	}
	servers, err := read(t, name)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(servers)) {
		if err := give(imports.ServerOf(id, servers[id])); err != nil {
			return err
		}
	}
	return nil
}
