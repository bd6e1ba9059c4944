package session

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/provider/failover"
)

// Watcher is told how far runs are and how long their parts took, for who measures.
// It must not block.
type Watcher interface {
	// Began hears that a run left the queue.
	Began(run Run)
	// Asked hears of each call of a model, when it is over.
	Asked(runID string, call failover.Attempt)
	// Called hears of each call of a tool, when it is over.
	Called(runID string, call Called)
	// Ended hears how a run ended.
	Ended(run Run)
}

// Called is a call of a tool, without what was said to it and by it.
type Called struct {
	ID, Parent string // Parent is the call of the program that made it, "" for the model's own
	Name       string
	At         time.Time // of its end
	Took       time.Duration
	Failed     bool
}

func (m *Manager) tellBegan(run Run) {
	for _, w := range m.watchers {
		w.Began(run)
	}
}

func (m *Manager) tellAsked(runID string, call failover.Attempt) {
	for _, w := range m.watchers {
		w.Asked(runID, call)
	}
}

func (m *Manager) tellCalled(runID string, call Called) {
	for _, w := range m.watchers {
		w.Called(runID, call)
	}
}

func (m *Manager) tellEnded(run Run) {
	for _, w := range m.watchers {
		w.Ended(run)
	}
}
