package imports

import "slices"

// Reasons for what is not taken.
const (
	guards   = "it decides what is open or allowed: choose it here anew"
	machine  = "it is about that program's computer or process"
	apart    = "it is taken apart from the settings"
	notHere  = "Hearth has no such setting"
	openDoor = "it lets everybody write: choose it here anew"
	onlyThey = "in Hearth it names the only models that may be chosen: add those that you want yourself"
	unasked  = "it would change how the networks that are connected here answer: set it yourself if you want that"
)

// judge says why a place is not taken; "" and true: it is, with all below it; false:
// look further down.
func judge(at []string) (why string, decided bool) {
	if len(at) == 0 {
		return "", false
	}
	switch at[0] {
	case "models", "messages", "session":
		return "", true
	case "auth":
		return below(at, machine, "order", "cooldowns")
	case "skills":
		return below(at, machine, "entries")
	case "agents":
		return judgeAgents(at)
	case "channels":
		return judgeChannels(at)
	case "tools":
		if len(at) == 1 || len(at) == 2 && at[1] == "web" {
			return "", false
		}
		if len(at) >= 3 && at[1] == "web" && at[2] == "search" {
			return "", true
		}
		return guards, true
	case "gateway", "commands", "approvals", "hooks", "nodeHost", "secrets", "acp":
		return guards, true
	case "mcp", "cron":
		return machine, true
	case "$include":
		return "files that it includes are not followed: paste them into it first", true
	case "plugins", "logging", "browser", "canvasHost", "discovery", "ui", "update", "talk", "web", "meta", "wizard", "env", "diagnostics",
		"audio", "media", "memory", "cli", "bindings", "broadcast":
		return machine, true
	}
	return notHere, true
}

// below takes some keys of an object.
func below(at []string, why string, keys ...string) (string, bool) {
	if len(at) == 1 {
		return "", false
	}
	if slices.Contains(keys, at[1]) {
		return "", true
	}
	return why, true
}

func judgeAgents(at []string) (string, bool) {
	switch {
	case len(at) == 1, len(at) == 2 && at[1] == "defaults":
		return "", false
	case at[1] != "defaults":
		return notHere, true
	case slices.Contains([]string{
		"model", "imageModel", "userTimezone", "timeFormat", "thinkingDefault", "verboseDefault", "reasoningDefault",
	}, at[2]):
		return "", true
	case at[2] == "models":
		return onlyThey, true
	case at[2] == "workspace":
		return apart, true
	}
	return guards, true
}

func judgeChannels(at []string) (string, bool) {
	switch {
	case len(at) >= 3 && (at[len(at)-1] == "dmPolicy" || at[len(at)-1] == "groupPolicy"):
		return openDoor, true
	case len(at) >= 2 && at[1] == "defaults":
		return guards, true
	}
	return "", false
}
