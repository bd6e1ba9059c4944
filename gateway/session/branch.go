package session

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// A transcript may branch: a message that is edited or answered again begins a turn
// beside the old one, and what stood there stays. Turns keep counting over all
// branches of a transcript, and the turn before is the parent of each, but for those
// of the table of forks. The row says which branch is in use (Row.Path); everybody
// who reads a transcript reads that branch, see tables.scan.

// Span is a part of a branch: turns that follow each other, both ends included.
type Span struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"` // openEnd: and all that come
}

// openEnd is behind every turn, and fits a position.
const openEnd = 1 << 46

// Path is a branch from its beginning to its leaf, in order; nil is all turns of a
// transcript that never branched.
type Path []Span

// holds reports whether a position belongs to the branch.
func (p Path) holds(seq int64) bool {
	turn := uint64(seq) >> 16
	return p == nil || slices.ContainsFunc(p, func(s Span) bool { return s.From <= turn && turn <= s.To })
}

// until is the branch up to a turn, as far as two branches can be compared.
func (p Path) until(turn uint64) Path {
	if p == nil {
		p = Path{{0, openEnd}}
	}
	var out Path
	for _, s := range p {
		if s.From <= turn {
			out = append(out, Span{s.From, min(s.To, turn)})
		}
	}
	return out
}

// name is the same for the same branch of a transcript; "" where it never branched.
func (p Path) name() string {
	if len(p) == 0 {
		return ""
	}
	last := p[len(p)-1]
	if last.To == openEnd {
		return fmt.Sprint(last.From)
	}
	return fmt.Sprintf("%d-%d", last.From, last.To)
}

// scan yields the entries of a branch between two positions (0: none), without
// those.
func (t *tables) scan(tx *store.Tx, sessionID string, p Path, after, before int64,
	reverse bool) iter.Seq2[store.Row[protocol.Message], error] {
	if p == nil {
		p = Path{{0, openEnd}}
	}
	if reverse {
		p = slices.Clone(p)
		slices.Reverse(p)
	}
	return func(yield func(store.Row[protocol.Message], error) bool) {
		for _, s := range p {
			r, err := s.within(sessionID, after, before)
			if err != nil {
				yield(store.Row[protocol.Message]{}, err)
				return
			}
			r.Reverse = reverse
			for row, err := range t.entries.Scan(tx, r) {
				if !yield(row, err) {
					return
				}
			}
		}
	}
}

// within is where the entries of a span stand, between two positions.
func (s Span) within(sessionID string, after, before int64) (r store.Range, err error) {
	if r.Prefix, err = entryPrefix(sessionID); err != nil {
		return r, err
	}
	if first := int64(seqOf(s.From, 0)); first > 0 {
		after = max(after, first-1)
	}
	if end := int64(seqOf(s.To+1, 0)); s.To < openEnd && (before == 0 || end < before) {
		before = end
	}
	if after > 0 {
		r.After, _ = entryKey(sessionID, uint64(after))
	}
	if before > 0 {
		r.Before, _ = entryKey(sessionID, uint64(before))
	}
	return r, nil
}

// countIn is how many entries a branch has.
func (t *tables) countIn(tx *store.Tx, sessionID string, p Path) (n int, err error) {
	if p == nil {
		p = Path{{0, openEnd}}
	}
	for _, s := range p {
		r, err := s.within(sessionID, 0, 0)
		if err != nil {
			return 0, err
		}
		for range t.entries.ScanRaw(tx, r) {
			n++
		}
	}
	return n, nil
}

// fork is a turn whose parent is not the turn before it.
type fork struct{ turn, parent uint64 }

// forks are those of a transcript, in order.
type forks []fork

// maxForks bounds the branches of one transcript.
const maxForks = 1000

// ErrManyBranches: a transcript has as many branches as it can have.
var ErrManyBranches = errors.New("this chat has as many versions as one chat can have; branch into a new chat to go on")

func (t *tables) forksOf(tx *store.Tx, sessionID string) (out forks, err error) {
	prefix, err := entryPrefix(sessionID)
	if err != nil {
		return nil, err
	}
	for row, err := range t.forks.Scan(tx, store.Range{Prefix: prefix}) {
		if err != nil {
			return nil, err
		}
		out = append(out, fork{row.Value.Turn, row.Value.Parent})
	}
	return out, nil
}

// Fork is kept of a turn whose parent is not the turn before it.
type Fork struct {
	Turn   uint64 `json:"turn"`
	Parent uint64 `json:"parent"`
}

// begun is the fork that a turn follows without another one in between; ok is false
// for the turns from the beginning of the transcript on.
func (f forks) begun(turn uint64) (at fork, ok bool) {
	i, found := slices.BinarySearchFunc(f, turn, func(x fork, turn uint64) int {
		if x.turn < turn {
			return -1
		}
		return min(1, int(x.turn-turn))
	})
	if found {
		return f[i], true
	}
	if i == 0 {
		return fork{}, false
	}
	return f[i-1], true
}

// parent is the turn that another one follows.
func (f forks) parent(turn uint64) uint64 {
	if at, ok := f.begun(turn); ok && at.turn == turn {
		return at.parent
	}
	return turn - 1
}

// path is the branch that ends with a turn; next is the transcript's next one.
func (f forks) path(leaf, next uint64) Path {
	var p Path
	for to, open := leaf, leaf+1 >= next; ; open = false {
		at, ok := f.begun(to)
		s := Span{at.turn, to}
		if open {
			s.To = openEnd
		}
		p = append(p, s)
		if !ok {
			break
		}
		to = at.parent
	}
	slices.Reverse(p)
	if len(p) == 1 && p[0] == (Span{0, openEnd}) {
		return nil
	}
	return p
}

// children are the turns that follow a turn: the next one, unless it is a fork, and
// forks. Whether the next one was ever written is for the caller to see.
func (f forks) children(parent uint64) (out []uint64) {
	if at, ok := f.begun(parent + 1); !ok || at.turn != parent+1 {
		out = append(out, parent+1)
	}
	for _, x := range f {
		if x.parent == parent {
			out = append(out, x.turn)
		}
	}
	return out
}

// newest is the leaf that was written last on the branches through a turn; last is
// the transcript's last turn.
func (f forks) newest(turn, last uint64) uint64 {
	for leaf := last; leaf > turn; {
		if p := f.path(leaf, openEnd); p.holds(int64(seqOf(turn, 0))) {
			return leaf
		}
		at, ok := f.begun(leaf)
		if !ok {
			break
		}
		leaf = at.turn - 1
	}
	return turn
}

// beginTurn takes the session's next turn. Where the branch in use ends before it,
// the turn is a fork.
func (m *Manager) beginTurn(tx *store.Tx, row *Row) (uint64, error) {
	turn := row.NextTurn
	row.NextTurn++
	n := len(row.Path)
	if n == 0 || row.Path[n-1].To == openEnd {
		return turn, nil
	}
	last := row.Path[n-1]
	row.Path = slices.Clone(row.Path)
	if last.To+1 == turn {
		row.Path[n-1].To = openEnd
		return turn, nil
	}
	all, err := m.t.forksOf(tx, row.SessionID)
	if err != nil {
		return 0, err
	}
	if len(all) >= maxForks {
		return 0, ErrManyBranches
	}
	key, err := entryKey(row.SessionID, turn)
	if err != nil {
		return 0, err
	}
	row.Path = append(row.Path, Span{turn, openEnd})
	return turn, m.t.forks.Put(tx, key, Fork{turn, last.To})
}
