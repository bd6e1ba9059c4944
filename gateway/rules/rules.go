// Package rules reads the rules of sessions and messages from the settings: what
// session.* and messages.queue mean to package session and its policies.
package rules

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
)

// Keys are the rules of session keys.
func Keys(c config.Config) policy.Keys { return policy.Section.Of(c).Keys }

// Main is the key of the main conversation of an agent, by the settings now.
func Main(settings *config.File, agent string) string {
	return Keys(settings.Snapshot().Config).Main(agent)
}

// Sessions are the rules of sessions that are looked up whenever they are needed;
// it implements session.Settings.
type Sessions struct{ Settings *config.File }

// Queue is messages.queue for a route's channel.
func (s Sessions) Queue(route string) session.QueuePolicy {
	return Queue(s.Settings.Snapshot().Config, route)
}

// Timeout of a run that names none.
func (s Sessions) Timeout() time.Duration {
	return time.Duration(RunsSection.Of(s.Settings.Snapshot().Config).TimeoutSeconds) * time.Second
}
