package workbench

import "github.com/hearth-assistant/hearth/gateway/config"

// AgentConfigured says whether one agent is different; limits are everybody's.
type AgentConfigured struct{ On *bool }

// AgentSection is what an agent's tools say of code mode.
var AgentSection = &config.Entries[AgentConfigured]{
	Path: "agents.list[].tools", Name: "codeMode",
	Fields: func(a *AgentConfigured) []config.Field {
		return []config.Field{config.Maybe{
			Key: "codeMode", To: &a.On, Read: agentSwitch, Hint: config.Hint{Default: "as `tools.codeMode`"},
			Help: "`true` or `false` (or `{ enabled: … }`) for one agent; limits are everybody's",
		}}
	},
}

func agentSwitch(v config.Value) (on bool) {
	switch {
	case v.IsSwitch():
		on = v.Switch()
	case v.IsObject():
		v.Object(config.Switch{Key: "enabled", To: &on})
	default:
		v.Expected("true, false or { enabled: true }")
	}
	return on
}

// On reports whether an agent works in code mode.
func On(c config.Config, agent string) bool {
	if a, _ := AgentSection.Of(c, agent); a.On != nil {
		return *a.On
	}
	return Section.Of(c).Enabled
}
