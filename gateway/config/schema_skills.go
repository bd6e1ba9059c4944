package config

import "encoding/json"

func (d *decoder) skills(n *node, s *Skills) {
	words := func(to *[]string, limit int) func(*node) {
		return func(n *node) {
			*to = []string{}
			d.list(n, func(v *node) { *to = append(*to, d.filled(v, limit)) })
		}
	}
	d.object(n, append([]field{
		{"allowBundled", words(&s.AllowBundled, 128)},
		{"load", func(n *node) {
			d.object(n, append([]field{
				{"extraDirs", func(n *node) {
					d.list(n, func(v *node) { s.Load.ExtraDirs = append(s.Load.ExtraDirs, d.folder(v)) })
				}},
				{"watch", func(n *node) { s.Load.Watch = d.boolean(n) }},
				{"watchDebounceMs", func(n *node) { s.Load.WatchDebounceMs = d.integer(n, 10, 60_000) }},
			}, later("allowSymlinkTargets")...)...)
		}},
		{"install", func(n *node) {
			d.object(n, append([]field{
				{"nodeManager", func(n *node) { s.Install.NodeManager = d.choice(n, "npm", "pnpm", "yarn", "bun") }},
			}, later("preferBrew", "allowUploadedArchives")...)...)
		}},
		{"limits", func(n *node) {
			d.object(n, append([]field{
				{"maxSkillsInPrompt", func(n *node) { s.Limits.MaxSkillsInPrompt = d.integer(n, 1, 10_000) }},
				{"maxSkillsPromptChars", func(n *node) { s.Limits.MaxSkillsPromptChars = d.integer(n, 500, 1_000_000) }},
			}, later("maxCandidatesPerRoot", "maxSkillsLoadedPerSource", "maxSkillFileBytes")...)...)
		}},
		{"entries", func(n *node) {
			s.Entries = make(map[string]SkillEntry, len(n.items))
			d.each(n, func(key string, _ int, v *node) {
				var e SkillEntry
				d.skillEntry(v, &e)
				s.Entries[key] = e
			})
		}},
	}, later("workshop", "library", "curator")...)...)
}

func (d *decoder) skillEntry(n *node, e *SkillEntry) {
	d.object(n,
		field{"enabled", func(n *node) { e.Enabled = new(d.boolean(n)) }},
		field{"apiKey", func(n *node) { e.APIKey = d.key(n) }},
		field{"env", func(n *node) {
			e.Env = make(map[string]Secret, len(n.items))
			d.each(n, func(name string, at int, v *node) {
				if !variable(name) {
					d.issue(at, "the name of an environment variable has letters, digits and _ only, for example MY_API_KEY")
					return
				}
				e.Env[name] = d.key(v)
			})
		}},
		field{"config", func(n *node) {
			e.Config = make(map[string]json.RawMessage, len(n.items))
			d.each(n, func(name string, _ int, v *node) { e.Config[name] = appendJSON(nil, v) })
		}},
	)
}

// variable is a name of an environment variable in either case.
func variable(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 128
}
