package subagent

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Configured is what the file says of sub-agents.
type Configured struct {
	Model               config.ModelChoice // empty: as the session that starts them
	MaxSpawnDepth       int                // 1: sub-agents start none themselves
	MaxConcurrent       int                // that work at the same time
	MaxChildrenPerAgent int                // of one session that have not ended
	ArchiveAfterMinutes int                // 0: never
	DelegationMode      string             // suggest, prefer
}

// Section are the settings of sub-agents.
var Section = &config.Settings[Configured]{
	Path: "agents.defaults.subagents",
	Default: Configured{
		MaxSpawnDepth: 1, MaxConcurrent: 4, MaxChildrenPerAgent: 5, ArchiveAfterMinutes: 60, DelegationMode: "suggest",
	},
	Fields: func(c *Configured) []config.Field {
		return []config.Field{
			c.Model.Field("model", "the model that they use, \"provider/model\"", config.Hint{Default: "as the session"}),
			config.Number{
				Key: "maxSpawnDepth", To: &c.MaxSpawnDepth, Min: 0, Max: 5,
				Help: "how deep sub-agents may be nested, 0 to 5; at 1 they start none themselves, at 0 there are none",
			},
			config.Number{
				Key: "maxConcurrent", To: &c.MaxConcurrent, Min: 1, Max: 100, Help: "how many work at the same time; others wait",
			},
			config.Number{
				Key: "maxChildrenPerAgent", To: &c.MaxChildrenPerAgent, Min: 1, Max: 20,
				Help: "how many of one session may be unfinished, 1 to 20",
			},
			config.Choice{
				Key: "delegationMode", To: &c.DelegationMode, Among: []string{"suggest", "prefer"},
				Help: "`prefer`: the assistant is told to hand everything larger to sub-agents",
			},
			config.Number{
				Key: "archiveAfterMinutes", To: &c.ArchiveAfterMinutes, Min: 0, Max: 525_600,
				Help: "when the session of one that has ended is archived; `0`: never",
			},
			config.Later("thinking", "runTimeoutSeconds", "announceTimeoutMs", "allowAgents", "requireAgentId"),
		}
	},
}

// LimitsOf are the limits of the file.
func LimitsOf(c config.Config) Limits {
	s := Section.Of(c)
	return Limits{
		Depth: s.MaxSpawnDepth, Concurrent: s.MaxConcurrent, Children: s.MaxChildrenPerAgent,
		Archive: time.Duration(s.ArchiveAfterMinutes) * time.Minute,
	}
}
