package imports

import (
	"encoding/json"
	"strings"
)

// serverKeys are what an MCP server is reached by; everything else of it is
// another program's.
func serverKeys() []string { return []string{"command", "args", "env", "cwd", "url", "headers"} }

// ServerOf is an MCP server as its settings there say it.
func ServerOf(id string, raw json.RawMessage) Item {
	it := Item{Kind: Servers, ID: id, Name: id}
	var all map[string]any
	if json.Unmarshal(raw, &all) != nil || all == nil {
		it.Why = "it is not written as a server is"
		return it
	}
	s := map[string]any{}
	for _, k := range serverKeys() {
		if v, ok := all[k]; ok && v != nil {
			s[k] = v
		}
	}
	if s["url"] == nil && all["serverUrl"] != nil {
		s["url"] = all["serverUrl"]
	}
	command, _ := s["command"].(string)
	url, _ := s["url"].(string)
	switch {
	case command == "" && url == "":
		it.Why = "it says neither which program to start nor where it is"
	case command != "" && url != "":
		delete(s, "url")
		delete(s, "headers")
	case command == "":
		delete(s, "args")
		delete(s, "env")
		delete(s, "cwd")
	}
	it.Server = &Server{Settings: s}
	return it
}

// ServerName is a server's name as Hearth's settings can have it; "" when nothing
// of it can be.
func ServerName(s string) string {
	const longest = 24
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else if n := b.Len(); n > 0 && b.String()[n-1] != '-' {
			b.WriteByte('-')
		}
	}
	name := b.String()
	return strings.Trim(name[:min(len(name), longest)], "-")
}
