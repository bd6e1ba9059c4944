package openaiserver

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// turns are the runs of programs that have not ended.
type turns struct {
	mu     sync.Mutex // guards all below
	byRun  map[string]*turn
	byCall map[string]*turn
	parked []*turn // the oldest first
}

func newTurns() *turns {
	return &turns{byRun: make(map[string]*turn), byCall: make(map[string]*turn)}
}

func (s *turns) add(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byRun[t.runID] = t
}

func (s *turns) of(runID string) *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byRun[runID]
}

// remove forgets a turn; its calls lead nowhere from now on.
func (s *turns) remove(t *turn) {
	t.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byRun, t.runID)
	for id, o := range s.byCall {
		if o == t {
			delete(s.byCall, id)
		}
	}
	s.parked = slices.DeleteFunc(s.parked, func(o *turn) bool { return o == t })
}

// calls notes whose calls these are.
func (s *turns) calls(t *turn, ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.byCall[id] = t
	}
}

// park notes that a turn waits for its program, and returns the client's oldest
// one when it has too many.
func (s *turns) park(t *turn, most int) (over *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parked = append(s.parked, t)
	n := 0
	for _, o := range slices.Backward(s.parked) {
		if o.client.ID == t.client.ID {
			if n++; n > most {
				over = o
			}
		}
	}
	return over
}

// resume finds the turn that waits for one of these results, if it is the
// client's own, and attaches to it.
func (s *turns) resume(clientID string, results []Message, req *Request) *turn {
	s.mu.Lock()
	var t *turn
	for _, r := range results {
		if o := s.byCall[r.CallID]; o != nil && o.client.ID == clientID {
			t = o
		}
	}
	s.mu.Unlock()
	if t == nil || !t.attach(results, req) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parked = slices.DeleteFunc(s.parked, func(o *turn) bool { return o == t })
	return t
}

// ofClient are those of a client that wait for it.
func (s *turns) ofClient(clientID string) (out []*turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.parked {
		if t.client.ID == clientID {
			out = append(out, t)
		}
	}
	return out
}

// What the engine tells of runs. Of those that no program waits for any more it
// is told to stop.

// Begin hears that a run begins; false means that a program asked for it and is
// not there any more, as after a restart.
func (h *Handler) Begin(runID string) bool {
	return h.turns.of(runID) != nil || !strings.HasPrefix(runID, runPrefix)
}

// Say hears words of an answer.
func (h *Handler) Say(runID, words string) {
	if t := h.turns.of(runID); t != nil {
		t.say(words)
	}
}

// Intend hears what the model asks for before any of it starts.
func (h *Handler) Intend(runID string, msg model.Message, usage model.Usage) {
	if t := h.turns.of(runID); t != nil {
		h.turns.calls(t, t.intend(msg, usage, h.NewID))
	}
}

// Done hears that a run's end is durable.
func (h *Handler) Done(runID string) {
	if t := h.turns.of(runID); t != nil {
		h.turns.remove(t)
	}
}

// Tools are those that the program of a run brought.
func (h *Handler) Tools(runID string) []tool.Tool {
	t := h.turns.of(runID)
	if t == nil {
		return nil
	}
	out := make([]tool.Tool, len(t.tools))
	for i, f := range t.tools {
		out[i] = clientTool{h, t, f}
	}
	return out
}

// HasTool reports whether a tool of a run is the program's own.
func (h *Handler) HasTool(runID, name string) bool {
	t := h.turns.of(runID)
	return t != nil && t.has(name)
}

// Instructions are what the program of a run says about its answers.
func (h *Handler) Instructions(runID string) string {
	if t := h.turns.of(runID); t != nil {
		return t.instructions
	}
	return ""
}

// Revoked ends what a client left waiting.
func (h *Handler) Revoked(ctx context.Context, clientID string) {
	for _, t := range h.turns.ofClient(clientID) {
		h.Engine.Stop(ctx, t.key, t.runID)
	}
}
