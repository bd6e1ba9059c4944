package provider

import (
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/guide"
)

// UnavailableError says that a model cannot be asked at all, in words for
// people.
type UnavailableError struct {
	Ref     model.Ref
	Class   model.Class // ClassAuth, ClassConnect, ClassNoModel or ClassInvalid
	Message string      // what happened, why, and what to do
}

func (e *UnavailableError) Error() string { return e.Message }

// ModelClass is how the failover sees it.
func (e *UnavailableError) ModelClass() model.Class { return e.Class }

func unavailable(ref model.Ref, c model.Class, format string, args ...any) error {
	return &UnavailableError{Ref: ref, Class: c, Message: fmt.Sprintf(format, args...)}
}

// entries lists what can be picked: the default first, the guide last.
func (v view) entries(all bool) []Entry {
	list := v.entriesOf(v.order(), all)
	ref, _ := v.fallback()
	listed := false
	for i, e := range list {
		if e.Ref == ref {
			listed = true
			copy(list[1:i+1], list[:i])
			list[0] = e
			break
		}
	}
	if !listed && ref != guide.Ref() {
		list = append([]Entry{v.set(ref)}, list...)
	}
	return append(list, Entry{Ref: guide.Ref(), Name: "Built-in guide (not an AI model)", Service: "Hearth",
		ContextWindow: guide.ContextWindow,
		Tools:         true, BuiltIn: true, Source: SourceBuiltIn, Available: true, Chosen: true})
}

// set is the entry of a configured default that no list holds.
func (v view) set(ref model.Ref) Entry {
	e := Entry{Ref: ref, Name: ref.Model, Service: nameOf(ref.Provider), Tools: true, Source: SourceConfigured, Available: true, Chosen: true}
	if c, err := v.resolve(ref); err != nil {
		e.Available, e.Reason = false, err.Error()
	} else {
		e.ContextWindow, e.Tools = c.ContextWindow, c.Tools
	}
	return e
}

// entriesOf lists the models of services in order. Known services that nobody
// set up are left out unless all are meant: they are help texts, not models.
func (v view) entriesOf(ids []string, all bool) []Entry {
	var list []Entry
	for _, id := range ids {
		x, _ := v.reach(id)
		_, configured := v.settings.Providers[id]
		if x.reason != "" && !configured && !all {
			continue
		}
		if !all && x.local && !configured && !x.isFound(v) {
			continue
		}
		for _, m := range x.models {
			m.ContextWindow = v.windowOf(&x, m)
			e := x.entry(m)
			e.Tools, e.Trained, e.Chosen = v.tools(&x, m.ID), x.trainedFor(m.ID), v.chosen(&x)
			list = append(list, e)
		}
	}
	return list
}

func (x *reach) entry(m ModelConfig) Entry {
	e := Entry{Ref: model.Ref{Provider: x.id, Model: m.ID}, Name: m.Name, Service: x.name, ContextWindow: m.ContextWindow,
		Reasoning: m.Reasoning,
		Input:     m.Input, Tools: x.toolIn(m.ID), Source: x.source, Available: x.reason == "", Reason: x.reason, Away: x.isAway(m.ID)}
	if e.Name == "" {
		e.Name = m.ID
	}
	return e
}

// names lists the providers that errors mention: those in use first.
func (v view) names() string {
	var names []string
	for _, id := range v.order() {
		if x, _ := v.reach(id); x.reason == "" {
			names = append(names, id)
		}
	}
	names = append(names, guide.Ref().Provider)
	for _, s := range v.r.table {
		if len(names) >= manyNames {
			return strings.Join(names, ", ") + " and others"
		}
		if x, _ := v.reach(s.id); x.reason != "" {
			names = append(names, s.id)
		}
	}
	return strings.Join(names, ", ")
}

func modelNames(models []ModelConfig) string {
	if len(models) == 0 {
		return "none yet"
	}
	var names []string
	for _, m := range models {
		if len(names) == manyNames {
			return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", len(models)-manyNames)
		}
		names = append(names, m.ID)
	}
	return strings.Join(names, ", ")
}
