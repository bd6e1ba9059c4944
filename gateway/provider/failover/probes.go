package failover

import (
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

const (
	// primaryProbeEvery is how often a session on a fallback tries what was
	// selected; it is not configurable.
	primaryProbeEvery = 5 * time.Minute
	maxProbes         = 4096
)

// probes remembers when services and primaries were last tried.
type probes struct {
	mu       *sync.Mutex
	services map[string]time.Time
	sessions map[sessionProbe]time.Time
}

type sessionProbe struct {
	session string
	primary model.Ref
}

func newProbes() probes {
	return probes{mu: new(sync.Mutex), services: map[string]time.Time{}, sessions: map[sessionProbe]time.Time{}}
}

func (p probes) throttled(service string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, ok := p.services[service]
	return ok && now.Sub(last) < probeEvery
}

func (p probes) probed(service string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.services[service] = now
}

// due reports whether a session may try its primary again, and counts it.
func (p probes) due(session string, primary model.Ref, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, ok := p.sessions[sessionProbe{session, primary}]
	if ok && now.Sub(last) < primaryProbeEvery {
		return false
	}
	p.put(session, primary, now)
	return true
}

// tried counts a failed try of the primary.
func (p probes) tried(session string, primary model.Ref, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(session, primary, now)
}

func (p probes) put(session string, primary model.Ref, now time.Time) {
	if len(p.sessions) >= maxProbes {
		for k, at := range p.sessions {
			if now.Sub(at) >= primaryProbeEvery {
				delete(p.sessions, k)
			}
		}
	}
	if len(p.sessions) >= maxProbes {
		clear(p.sessions) // at worst some primaries are tried early
	}
	p.sessions[sessionProbe{session, primary}] = now
}
