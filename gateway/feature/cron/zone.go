package cron

import (
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/schedule"
)

// zoneHolds is for how long a zone is taken to be what it was: finding it reads
// files, and a list of jobs asks for it many times.
const zoneHolds = time.Second

// zone is the time zone of the person. The machine's may be changed while Hearth
// runs. It is safe for concurrent use.
type zone struct {
	clock *clock.Clock

	mu    sync.Mutex
	until time.Time
	name  string
	at    *time.Location
}

// is the zone now, by its name where it has one.
func (z *zone) is() (name string, at *time.Location) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if now := time.Now(); now.After(z.until) {
		z.until, z.name = now.Add(zoneHolds), z.clock.ZoneName()
		var err error
		if z.at, err = time.LoadLocation(z.name); err != nil {
			z.at = z.clock.Zone()
		}
	}
	return z.name, z.at
}

// forget has it found anew.
func (z *zone) forget() {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.until = time.Time{}
}

func (f *feature) zone() *time.Location {
	_, at := f.person.is()
	return at
}

// style is how times are said.
func (f *feature) style() schedule.Style {
	name, at := f.person.is()
	return schedule.Style{Zone: at, Twelve: f.Clock.Hours() == 12, ZoneName: name}
}
