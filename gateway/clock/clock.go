// Package clock knows the person's clock: the time zone and the hours that
// agents.defaults name, else those of this machine. It does not own the instant
// (Now is injected) nor how zones are found (package hostzone).
package clock

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/hostzone"
)

// Clock is the person's clock. Its methods may be called from several
// goroutines.
type Clock struct {
	settings *config.File
	env      func(string) string
	now      func() time.Time
}

// New returns a clock of the settings, the environment and a source of time.
func New(settings *config.File, env func(string) string, now func() time.Time) *Clock {
	return &Clock{settings, env, now}
}

// Now is the current moment in the person's zone.
func (c *Clock) Now() time.Time { return c.now().In(c.Zone()) }

// Zone is the person's time zone.
func (c *Clock) Zone() *time.Location {
	if name := c.configured(); name != "" {
		if z, err := time.LoadLocation(name); err == nil {
			return z
		}
	}
	return time.Local
}

// ZoneName is what the zone is called, such as "Europe/Vienna".
func (c *Clock) ZoneName() string {
	if name := c.configured(); name != "" {
		return name
	}
	return hostzone.Name(c.env("TZ"), c.now())
}

// Unknown is what TZ names when there is no such zone and the settings name none: all
// times are UTC's then, without a word from Go. Else it is "".
func (c *Clock) Unknown() string {
	tz := strings.TrimPrefix(c.env("TZ"), ":")
	if tz == "" || c.configured() != "" {
		return ""
	}
	var err error
	if filepath.IsAbs(tz) {
		_, err = os.Stat(tz)
	} else {
		_, err = time.LoadLocation(tz)
	}
	if err == nil {
		return ""
	}
	return tz
}

// Hours is 12 or 24.
func (c *Clock) Hours() int {
	if Section.Of(c.settings.Snapshot().Config).TimeFormat == "12" {
		return 12
	}
	return 24
}

// Words are a moment of the next days, in milliseconds since 1970, for a person:
// "15:04 on 2 January".
func (c *Clock) Words(ms int64) string {
	layout := "15:04 on 2 January"
	if c.Hours() == 12 {
		layout = "3:04 PM on 2 January"
	}
	return time.UnixMilli(ms).In(c.Zone()).Format(layout)
}

func (c *Clock) configured() string { return Section.Of(c.settings.Snapshot().Config).UserTimezone }
