// Package sections is the one list of the settings: what each feature and each
// package of the kernel says about its own keys (config.Section). The gateway, the
// command line and the generator of docs/configuration.md read the file by it.
// What a key means belongs to its owner, not here.
package sections

import (
	"slices"

	"github.com/hearth-assistant/hearth/gateway/codemode/workbench"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/egress/publicweb"
	"github.com/hearth-assistant/hearth/gateway/feature/mcp"
	"github.com/hearth-assistant/hearth/gateway/feature/settings"
	"github.com/hearth-assistant/hearth/gateway/feature/web"
	"github.com/hearth-assistant/hearth/gateway/heartbeat"
	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/memory"
	"github.com/hearth-assistant/hearth/gateway/skill/catalog"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
)

// All are the sections, in the order in which people are shown them.
func All() config.Sections {
	return slices.Concat(
		config.Sections{settings.DesktopSection, budget.Section},
		config.OfFeature("heartbeat", heartbeat.Section),
		config.OfFeature("mcp", mcp.Section),
		config.OfFeature("skills", catalog.Section),
		config.OfFeature("web", web.FetchSection, web.SearchSection),
		config.Sections{publicweb.Section},
		config.OfFeature("cron", job.Section),
		config.OfFeature("codemode", workbench.Section),
		config.OfFeature("memory", memory.SearchSection, memory.Section, memory.StartupSection),
	)
}
