package approval

import (
	"context"
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	ruleLife    = 90 * 24 * time.Hour
	sessionLife = 24 * time.Hour
	// maxRules bounds what must be looked through and what a person must oversee.
	maxRules = 500
)

// covers reports whether the rule is about the ask. Digests are compared in
// constant time and paths as they are: both sides are absolute and clean.
func (r *Rule) covers(a *Ask, exact *[32]byte, epoch string, nowMs int64) bool {
	if r.Kind != a.Kind || r.AgentID != a.AgentID || nowMs >= r.ExpiresAt {
		return false
	}
	switch r.Scope {
	case ScopeSession:
		return r.Epoch == epoch && r.SessionKey == a.SessionKey && r.SessionID == a.SessionID && subtle.ConstantTimeCompare(r.Exact[:],
			exact[:]) == 1
	case ScopeHere, ScopeNever:
		return r.Dir == a.Dir && subtle.ConstantTimeCompare(r.Exact[:], exact[:]) == 1
	case ScopeProgram:
		return a.oneProgram() && !r.Unconfined && r.Dir == a.Dir && r.Program == a.Program && subtle.ConstantTimeCompare(r.Hash[:],
			a.ProgramHash[:]) == 1
	case ScopeFolder:
		return r.Folder != "" && a.readsIn() && within(a.Path, r.Folder)
	}
	return false
}

// ruleSet is rules made ready to be looked up. It is replaced, not changed.
type ruleSet struct {
	all      []Rule // the newest first
	exact    map[[32]byte][]*Rule
	programs map[string][]*Rule // by program
	folders  []*Rule
}

func newRuleSet(all []Rule) *ruleSet {
	s := &ruleSet{all: all, exact: map[[32]byte][]*Rule{}, programs: map[string][]*Rule{}}
	for i := range all {
		switch r := &all[i]; r.Scope {
		case ScopeProgram:
			s.programs[r.Program] = append(s.programs[r.Program], r)
		case ScopeFolder:
			s.folders = append(s.folders, r)
		default:
			s.exact[r.Exact] = append(s.exact[r.Exact], r)
		}
	}
	return s
}

// match finds the rule that decides; a no comes before every yes.
func (b *Broker) match(a *Ask) (found *Rule) {
	b.mu.Lock()
	set := b.rules
	b.mu.Unlock()
	if len(set.all) == 0 {
		return nil
	}
	exact, now := a.Exact(), b.Now().UnixMilli()
	for _, list := range [][]*Rule{set.exact[exact], set.programs[a.Program], set.folders} {
		for _, r := range list {
			if !r.covers(a, &exact, b.epoch, now) || r.Scope.Allows() && !slices.Contains(a.Scopes(), r.Scope) {
				continue
			}
			if r.Scope == ScopeNever {
				return r
			}
			if found == nil {
				found = r
			}
		}
	}
	return found
}

// ruleOf is the rule that a decision makes; ok is false for those of one time.
func (b *Broker) ruleOf(a Ask, scope Scope, by string) (r Rule, ok bool) {
	now := b.Now()
	r = Rule{
		ID: b.NewID(), Scope: scope, Kind: a.Kind, AgentID: a.AgentID, Title: a.Title, Dir: a.Dir, Unconfined: a.Unconfined,
		CreatedAt: now.UnixMilli(), ExpiresAt: now.Add(ruleLife).UnixMilli(), By: by,
	}
	switch scope {
	case ScopeSession:
		r.SessionKey, r.SessionID, r.Epoch, r.ExpiresAt = a.SessionKey, a.SessionID, b.epoch, now.Add(sessionLife).UnixMilli()
		r.Exact = a.Exact()
	case ScopeHere, ScopeNever:
		r.Exact = a.Exact()
	case ScopeProgram:
		r.Program, r.Hash = a.Program, a.ProgramHash
	case ScopeFolder:
		r.Folder, r.Title = a.Folder, a.FolderTitle
	default:
		return r, false
	}
	return r, true
}

// putRule writes a rule and makes room for it: the oldest goes first.
func (b *Broker) putRule(tx *store.Tx, r Rule) error {
	if err := b.t.rules.Put(tx, []byte(r.ID), r); err != nil {
		return err
	}
	var oldest Rule
	n := 0
	for row, err := range b.t.rules.Scan(tx, store.Range{}) {
		if err != nil {
			return err
		}
		if n++; row.Value.Scope != ScopeNever && (oldest.ID == "" || row.Value.CreatedAt < oldest.CreatedAt) {
			oldest = row.Value
		}
	}
	if n > maxRules && oldest.ID != "" {
		return b.t.rules.Delete(tx, []byte(oldest.ID))
	}
	return nil
}

// loadRules reads the rules that hold, and drops the others.
func (b *Broker) loadRules(tx *store.Tx, clean bool) (rules []Rule, err error) {
	now := b.Now().UnixMilli()
	var over []string
	for row, err := range b.t.rules.Scan(tx, store.Range{}) {
		if err != nil {
			return nil, err
		}
		r := row.Value
		if now >= r.ExpiresAt || r.Scope == ScopeSession && r.Epoch != b.epoch || r.Scope == ScopeProgram && r.Unconfined {
			over = append(over, r.ID)
			continue
		}
		rules = append(rules, r)
	}
	for _, id := range over {
		if !clean {
			break
		}
		if err := b.t.rules.Delete(tx, []byte(id)); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(rules, func(x, y Rule) int {
		if x.CreatedAt != y.CreatedAt {
			return int(max(-1, min(1, y.CreatedAt-x.CreatedAt)))
		}
		return strings.Compare(x.ID, y.ID)
	})
	return rules, nil
}

// refresh takes the rules from the store into memory.
func (b *Broker) refresh() error {
	var rules []Rule
	err := b.DB.View(func(tx *store.Tx) (err error) {
		rules, err = b.loadRules(tx, false)
		return err
	})
	if err != nil {
		return fmt.Errorf("read the rules of approvals: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rules = newRuleSet(rules)
	return nil
}

// Rules are those that hold now, the newest first.
func (b *Broker) Rules() []Rule {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.Now().UnixMilli()
	return slices.DeleteFunc(slices.Clone(b.rules.all), func(r Rule) bool { return now >= r.ExpiresAt })
}

// RemoveRule ends a rule; false means that there was none.
func (b *Broker) RemoveRule(ctx context.Context, id string) (was bool, err error) {
	// Out of memory first: a rule that somebody is removing must not allow
	// anything more, whatever becomes of the write.
	b.mu.Lock()
	b.rules = newRuleSet(slices.DeleteFunc(slices.Clone(b.rules.all), func(r Rule) bool { return r.ID == id }))
	b.mu.Unlock()
	err = b.DB.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		was = b.t.rules.Has(tx, []byte(id))
		return b.t.rules.Delete(tx, []byte(id))
	}})
	if err != nil {
		_ = b.refresh() // the store is the truth
		return false, fmt.Errorf("remove the rule: %w", err)
	}
	return was, nil
}
