package failover

import (
	"slices"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Source says why a model is selected, which decides whether another may
// answer in its place.
type Source string

const (
	SourceDefault Source = "default" // agents.defaults.model.primary, or the best that is found
	SourceAgent   Source = "agent"   // the model of one agent: strict unless it has fallbacks of its own
	SourceAuto    Source = "auto"    // an earlier failover put it in the place of Origin
	SourceUser    Source = "user"    // the person chose exactly this
	SourceLegacy  Source = "legacy"  // a choice kept without its reason: as the person's
	SourceCron    Source = "cron"    // the primary of a scheduled job
)

// Selection is what a run is to be answered with.
type Selection struct {
	Ref    model.Ref // zero = the default
	Source Source
	Origin model.Ref // of SourceAuto: what was selected before
	Reason Reason    // of SourceAuto: why it was left
	Pin    Pinned
	// Fallbacks take the place of the configured ones when they are not nil; an
	// empty list means that nothing else may answer.
	Fallbacks []model.Ref
	Session   string // whose probes of the primary are counted
}

// strict reports whether only the selected model may answer.
func (s Selection) strict() bool {
	switch s.Source {
	case SourceUser, SourceLegacy:
		return true
	case SourceAgent:
		return len(s.Fallbacks) == 0
	}
	return s.Fallbacks != nil && len(s.Fallbacks) == 0
}

// selected is what stands for the choice when a failover moved away from it.
func (s Selection) selected() model.Ref {
	if s.Source == SourceAuto && s.Origin != (model.Ref{}) {
		return s.Origin
	}
	return s.Ref
}

// Chain lists the candidates: the requested model first, then the fallbacks in
// their order, each once. Without a list of its own for this selection the
// configured primary ends it, so that a chain can settle back onto the default.
// Fallbacks are the operator's explicit wish: no allowlist filters them.
func Chain(s Selection, primary model.Ref, fallbacks []model.Ref) []model.Ref {
	chain := []model.Ref{s.Ref}
	if s.strict() {
		return chain
	}
	add := func(r model.Ref) {
		if r != (model.Ref{}) && !slices.Contains(chain, r) {
			chain = append(chain, r)
		}
	}
	if s.Fallbacks != nil {
		for _, r := range s.Fallbacks {
			add(r)
		}
		return chain
	}
	for _, r := range fallbacks {
		add(r)
	}
	add(primary)
	return chain
}
