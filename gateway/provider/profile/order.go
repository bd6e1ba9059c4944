package profile

import (
	"cmp"
	"slices"
	"time"
)

// family is the provider whose models an account may serve: a subscription of
// Codex serves OpenAI's.
func family(provider string) string {
	if provider == "openai-codex" {
		return "openai"
	}
	return provider
}

// Candidates lists the accounts for a call in the order to try them:
// auth.order, else auth.profiles, else all that there are, each account once.
// Without an order they take turns: OAuth before tokens before keys, the one that
// rested longest first. Blocked ones are at the end, the soonest free first. A key
// of the environment is asked where there is nothing else, or by auth.order: who
// added another account did not choose that one.
//
// A pin of the user leaves only that account, blocked or not. An automatic one
// goes first while it is not blocked.
func (b *Book) Candidates(provider, model string, pin Pin, now time.Time) []Candidate {
	b.mu.Lock()
	defer b.mu.Unlock()
	if pin.User && pin.Profile != "" {
		r := b.rows[pin.Profile]
		if r == nil || !r.usable() || family(r.Provider) != family(provider) {
			return nil
		}
		return []Candidate{r.candidate(model, now)}
	}
	rows := b.rowsFor(provider)
	out := make([]Candidate, len(rows))
	for i, r := range rows {
		out[i] = r.candidate(model, now)
	}
	slices.SortStableFunc(out, func(x, y Candidate) int {
		switch {
		case x.Blocked() != y.Blocked():
			return boolOrder(x.Blocked(), y.Blocked())
		case x.Blocked():
			return x.Until.Compare(y.Until)
		}
		return boolOrder(x.ID != pin.Profile, y.ID != pin.Profile)
	})
	return out
}

func boolOrder(x, y bool) int {
	switch {
	case x == y:
		return 0
	case y:
		return -1
	}
	return 1
}

// rowsFor is the accounts of a provider in order, blocks aside.
func (b *Book) rowsFor(provider string) []*row {
	if order, ok := b.order(provider); ok {
		out := make([]*row, 0, len(order))
		for _, id := range order {
			if r := b.rows[id]; r != nil && r.usable() && family(r.Provider) == family(provider) && !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
		return out
	}
	out := make([]*row, 0, 8)
	for _, p := range b.settings.Profiles {
		if r := b.rows[p.ID]; p.Provider == provider && r != nil && r.usable() && r.Provider == provider {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		for _, r := range b.rows {
			if r.Provider == provider && r.usable() {
				out = append(out, r)
			}
		}
		if slices.ContainsFunc(out, func(r *row) bool { return r.source != SourceEnv }) {
			out = slices.DeleteFunc(out, func(r *row) bool { return r.source == SourceEnv })
		}
	}
	slices.SortStableFunc(out, turns)
	return out
}

func (b *Book) order(provider string) ([]string, bool) {
	if o, ok := b.settings.Order[provider]; ok && len(o) > 0 {
		return o, true
	}
	return nil, false
}

// turns is the round robin.
func turns(x, y *row) int {
	return cmp.Or(
		cmp.Compare(x.Type.rank(), y.Type.rank()),
		x.Stats.LastUsed.Compare(y.Stats.LastUsed),
		cmp.Compare(x.ID, y.ID),
	)
}

// Soonest is when the first of a provider's accounts is free again for a model;
// ok is false when one is free now, or there is none.
func (b *Book) Soonest(provider, model string, now time.Time) (at time.Time, ok bool) {
	all := b.Candidates(provider, model, Pin{}, now)
	if len(all) == 0 || !all[0].Blocked() {
		return time.Time{}, false
	}
	return all[0].Until, true
}
