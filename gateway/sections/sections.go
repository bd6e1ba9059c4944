// Package sections is the one list of the settings: what each feature and each
// package of the kernel says about its own keys (config.Section). The gateway, the
// command line and the generator of docs/configuration.md read the file by it.
// What a key means belongs to its owner, not here.
package sections

import (
	"slices"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/answers"
	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/codemode/workbench"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/egress/publicweb"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/feature/backup"
	"github.com/hearth-assistant/hearth/gateway/feature/hooks"
	"github.com/hearth-assistant/hearth/gateway/feature/lan"
	"github.com/hearth-assistant/hearth/gateway/feature/mcp"
	"github.com/hearth-assistant/hearth/gateway/feature/metrics"
	"github.com/hearth-assistant/hearth/gateway/feature/prompts"
	"github.com/hearth-assistant/hearth/gateway/feature/sessions"
	"github.com/hearth-assistant/hearth/gateway/feature/settings"
	"github.com/hearth-assistant/hearth/gateway/feature/shell"
	"github.com/hearth-assistant/hearth/gateway/feature/telemetry"
	"github.com/hearth-assistant/hearth/gateway/feature/undo"
	"github.com/hearth-assistant/hearth/gateway/feature/web"
	"github.com/hearth-assistant/hearth/gateway/heartbeat"
	"github.com/hearth-assistant/hearth/gateway/host/enabled"
	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/logfile"
	"github.com/hearth-assistant/hearth/gateway/memory"
	nodepolicy "github.com/hearth-assistant/hearth/gateway/node/policy"
	"github.com/hearth-assistant/hearth/gateway/openaiserver"
	"github.com/hearth-assistant/hearth/gateway/pairing/token"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/accounts"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/reach"
	"github.com/hearth-assistant/hearth/gateway/release"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	sessionpolicy "github.com/hearth-assistant/hearth/gateway/session/policy"
	"github.com/hearth-assistant/hearth/gateway/skill/catalog"
	"github.com/hearth-assistant/hearth/gateway/speech"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
	"github.com/hearth-assistant/hearth/gateway/subagent"
	"github.com/hearth-assistant/hearth/gateway/systemprompt"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
)

// All are the sections with those of the messaging networks, in the order in which
// people are shown them.
func All(networks channel.Kinds) config.Sections {
	return slices.Concat(
		config.Sections{reach.Section, token.Section, logfile.Section, lookup.Section, accounts.Section},
		config.OfFeature("lan", lan.Section),
		config.OfFeature("nodes", nodepolicy.Section),
		config.OfFeature("openaiapi", openaiserver.Section),
		config.Sections{enabled.Section, provider.Section, budget.PricingSection, budget.Section},
		config.Sections{rules.IncomingSection, rules.QueueSection, answers.PrefixSection, sessionpolicy.Section},
		config.Sections{choice.Section, rules.RunsSection, clock.Section, agents.DefaultsSection, settings.DesktopSection,
			systemprompt.Section, subagent.Section,
			rules.EnvelopeSection, answers.Section, answers.SurfacesSection, agents.Section, answers.AgentSection, agents.BindingsSection},
		config.Sections{policy.Section, policy.AgentSection, approval.CommandsSection, approval.Section, execution.Section},
		config.OfFeature("shell", shell.Section),
		config.OfFeature("sessions", sessions.Section),
		config.OfFeature("prompts", prompts.Section),
		hub.Sections(networks),
		config.Sections{hub.OwnersSection, hub.MenusSection},
		config.OfFeature("heartbeat", heartbeat.Section, heartbeat.AgentSection),
		config.OfFeature("hooks", hooks.Section, hooks.InternalSection),
		config.OfFeature("mcp", mcp.Section),
		config.OfFeature("skills", catalog.Section),
		config.OfFeature("web", web.FetchSection, web.SearchSection),
		config.Sections{publicweb.Section, speech.Section},
		config.OfFeature("cron", job.Section),
		config.OfFeature("backup", backup.Section),
		config.OfFeature("undo", undo.Section),
		config.OfFeature("metrics", metrics.Section),
		config.OfFeature("telemetry", telemetry.Section),
		config.OfFeature("update", release.Section),
		config.OfFeature("codemode", workbench.Section, workbench.AgentSection),
		config.OfFeature("memory", memory.SearchSection, memory.Section, memory.StartupSection),
		config.Sections{foreign()},
	)
}
