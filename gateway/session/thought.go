package session

import (
	"strings"
	"time"
)

// StreamThinking is the stream of agent events with what a model thinks.
const StreamThinking = "thinking"

// thoughtsEvery is how often they are told while a model thinks: it does so in
// hundreds of pieces.
const thoughtsEvery = 200 * time.Millisecond

// thought is what a model thought and nobody was told yet.
type thought struct {
	words strings.Builder
	told  time.Time
}

// think takes a piece of what the model thinks.
func (m *Manager) think(r *run, words string) {
	if f := m.follower(r); f != nil {
		f.Think(r.id, words)
	}
	r.thought.words.WriteString(words)
	if m.Now().Sub(r.thought.told) >= thoughtsEvery {
		m.tellThought(r)
	}
}

// tellThought tells it to those who watch, before whatever comes next.
func (m *Manager) tellThought(r *run) {
	if r.thought.words.Len() == 0 {
		return
	}
	m.agentEvent(r, StreamThinking, map[string]any{"delta": r.thought.words.String()})
	r.thought.words.Reset()
	r.thought.told = m.Now()
}
