package control

import "strings"

// open are the settings that a model may propose to change, each with all below
// it. None of them decides who may do what, where words or keys go, or what may
// be spent; whoever adds one asks: what could a hijacked model do with it if the
// person says yes without reading?
func open() []string {
	return []string{
		"agents.defaults.model", "agents.defaults.imageModel", "agents.defaults.timeoutSeconds", "agents.defaults.maxTokens",
		"agents.defaults.userTimezone", "agents.defaults.envelopeTimezone", "agents.defaults.envelopeTimestamp",
		"agents.defaults.envelopeElapsed",
		"agents.defaults.blockStreamingDefault", "agents.defaults.blockStreamingBreak", "agents.defaults.blockStreamingChunk",
		"agents.defaults.blockStreamingCoalesce", "agents.defaults.humanDelay", "agents.defaults.subagents.model",
		"agents.defaults.subagents.archiveAfterMinutes",
		"messages.responsePrefix", "messages.queue",
		"session.reset", "session.resetByType", "session.resetByChannel",
		"logging.level",
	}
}

// changeable reports whether a path is one of them or below one.
func changeable(path string) bool {
	for _, p := range open() {
		if path == p || strings.HasPrefix(path, p+".") || strings.HasPrefix(path, p+"[") {
			return true
		}
	}
	return false
}

// entry is one row of the manual.
type entry struct{ Path, Default, Meaning string }

// entries reads the tables of keys.
func entries(manual string) (out []entry) {
	for line := range strings.Lines(manual) {
		cells := strings.SplitN(strings.Trim(strings.TrimSpace(line), "|"), "|", 3)
		if len(cells) != 3 {
			continue
		}
		path := strings.TrimSpace(cells[0])
		if !strings.HasPrefix(path, "`") || !strings.HasSuffix(path, "`") || !strings.Contains(path, ".") || len(path) < 3 {
			continue
		}
		e := entry{strings.Trim(path, "`"), strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])}
		if e.Default == "" {
			e.Default = "none"
		}
		out = append(out, e)
	}
	return out
}

// find keeps the rows about a path and what is below it; "" keeps all.
func find(all []entry, path string) (out []entry) {
	for _, e := range all {
		if path == "" || covers(path, e.Path) {
			out = append(out, e)
		}
	}
	return out
}

// covers compares part by part; <id> in the manual stands for any name.
func covers(path, row string) bool {
	want, have := strings.Split(path, "."), strings.Split(row, ".")
	if len(want) > len(have) {
		return false
	}
	for i, w := range want {
		h := have[i]
		if !strings.EqualFold(w, h) && !(strings.HasPrefix(h, "<") && strings.HasSuffix(h, ">")) &&
			!strings.EqualFold(w, strings.TrimSuffix(h, "[]")) {
			return false
		}
	}
	return true
}
