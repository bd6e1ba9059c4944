package gateway

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/hostzone"
	sessiontool "github.com/hearth-assistant/hearth/gateway/tool/session"
)

// The person's clock: the zone and the hours that agents.defaults name, else
// those of this machine.

func (g *Gateway) zone() *time.Location {
	if name := g.config.Snapshot().Config.Agents.Defaults.UserTimezone; name != "" {
		if z, err := time.LoadLocation(name); err == nil {
			return z
		}
	}
	return time.Local
}

// zoneName is what the zone is called.
func (g *Gateway) zoneName() string {
	if name := g.config.Snapshot().Config.Agents.Defaults.UserTimezone; name != "" {
		return name
	}
	return hostzone.Name(g.opts.Env("TZ"), g.opts.Now())
}

func (g *Gateway) clock() sessiontool.Clock {
	c := sessiontool.Clock{Zone: g.zone(), Name: g.zoneName(), Hours: 24}
	if g.config.Snapshot().Config.Agents.Defaults.TimeFormat == "12" {
		c.Hours = 12
	}
	return c
}

// atTime words a moment of the next days for a person.
func (g *Gateway) atTime(ms int64) string {
	layout := "15:04 on 2 January"
	if g.clock().Hours == 12 {
		layout = "3:04 PM on 2 January"
	}
	return time.UnixMilli(ms).In(g.zone()).Format(layout)
}
