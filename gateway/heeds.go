package gateway

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// What later prompts and programs obey (AGENTS.md, a Makefile) is asked for in an
// answer that has read text from outside, and told to the person in every other.

// heeded is what an answer changed of that, until it is told.
type heeded struct {
	mu   sync.Mutex
	runs map[string]*heedings
}

type heedings struct {
	call  tool.Call
	names []string
}

// afterTool notes which answers have read text from outside.
func (g *Gateway) afterTool(name string, call tool.Call, text string) {
	if untrusted.Marked(text) {
		g.outside.Add(call.RunID)
	}
	if name == "memory_note" && strings.HasPrefix(text, "Written down in ") && g.outside.Has(call.RunID) {
		g.heedChanged(call, strings.TrimSuffix(strings.TrimPrefix(text, "Written down in "), "."))
	}
}

// readOutside: this answer has read text from outside, or comes of words that the
// owner did not say here.
func (g *Gateway) readOutside(call tool.Call) bool {
	if !call.Owner || call.Group || call.Relayed || call.Depth > 0 || g.outside.Has(call.RunID) {
		return true
	}
	rec, err := g.session.Why("", call.RunID)
	return err == nil && rec.Outside // the message itself was passed on
}

// heedChanged remembers a change for the end of the answer.
func (g *Gateway) heedChanged(call tool.Call, rel string) {
	rel = plan.Show(filepath.ToSlash(rel))
	g.audit.Add(audit.Entry{
		Kind: audit.KindTool, What: "changed " + rel + ", which later answers or programs obey", Session: call.SessionKey, Run: call.RunID,
		Facts: map[string]string{"path": rel, "call": call.ID},
	})
	g.heeded.mu.Lock()
	defer g.heeded.mu.Unlock()
	if g.heeded.runs == nil {
		g.heeded.runs = map[string]*heedings{}
	}
	h := g.heeded.runs[call.RunID]
	if h == nil {
		h = &heedings{call: call}
		g.heeded.runs[call.RunID] = h
	}
	if !slices.Contains(h.names, rel) {
		h.names = append(h.names, rel)
	}
}

// runOver ends what is kept for a run, and tells what it changed.
func (g *Gateway) runOver(ctx context.Context, runID string) {
	g.code.Over(ctx, runID)
	g.outside.Over(runID)
	g.heeded.mu.Lock()
	h := g.heeded.runs[runID]
	delete(g.heeded.runs, runID)
	g.heeded.mu.Unlock()
	if h != nil && !g.closing.Load() {
		g.work.Go(func(context.Context) { g.tellHeeded(h) })
	}
}

// tellHeeded is one line in the conversation, and where the owner wrote.
func (g *Gateway) tellHeeded(h *heedings) {
	text := heededWords(h)
	if _, err := g.session.Inject(g.work.Context(), h.call.SessionKey, text, "Changed for later"); err != nil {
		g.log.Warn("a change of what is obeyed later could not be told", "session", h.call.SessionKey, "err", err)
	}
	if h.call.Owner {
		g.owner.Tell(h.call.RunID, text)
	}
}

// heedNames is how many files are named; the rest is counted.
const heedNames = 6

func heededWords(h *heedings) string {
	names := h.names[:min(heedNames, len(h.names))]
	list := strings.Join(names, ", ")
	if more := len(h.names) - len(names); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return "This answer changed " + list + ": later answers, or programs, go by that. `hearth undo " + h.call.RunID + "` takes it back."
}
