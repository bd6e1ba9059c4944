package approval_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// play does random things to a broker: asks, decisions (twice, late, about
// made-up ids), runs that end, time, restarts. Whatever happens, a yes for once
// lets one call through, a decision is never a yes without somebody's name, and
// nothing that was pending before a restart is allowed after it.
type play struct {
	h       *house
	rng     *rand.Rand
	calls   []*call
	decided map[string]approval.Scope // by us, and it was taken
	old     map[string]bool           // pending in an earlier boot
}

type call struct {
	ctx  context.Context
	stop context.CancelFunc
	out  <-chan outcome
	boot int
}

func TestSec_A_EXEC_20_AnyOrderOfThings(t *testing.T) {
	seeds := 150
	if testing.Short() {
		seeds = 30
	}
	for n := range seeds {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *house) {
				p := &play{h: h, rng: seed.Fixed(t, uint64(n)), decided: map[string]approval.Scope{}, old: map[string]bool{}}
				for range 60 {
					p.step(t)
					synctest.Wait()
				}
				p.end(t)
			})
		})
	}
}

func (p *play) step(t *testing.T) {
	switch n := p.rng.IntN(20); {
	case n < 8:
		ctx, stop := context.WithCancel(t.Context())
		a := ask(fmt.Sprint("r", p.rng.IntN(6)), fmt.Sprint("cmd ", p.rng.IntN(5)))
		a.Lasting, a.Known = p.rng.IntN(2) == 0, p.rng.IntN(3) > 0
		a.Digest = [32]byte{byte(p.rng.IntN(5))}
		p.calls = append(p.calls, &call{ctx, stop, p.h.permit(ctx, a), p.h.boot})
	case n < 14:
		p.decide(t)
	case n < 16 && len(p.calls) > 0:
		p.calls[p.rng.IntN(len(p.calls))].stop()
	case n < 18:
		pass(time.Duration(p.rng.IntN(400)) * time.Second)
	case n == 18:
		p.h.reachable.Store(p.rng.IntN(3) > 0)
	default:
		for _, r := range p.h.Pending() {
			p.old[r.ID] = true
		}
		for _, c := range p.calls { // a process that dies takes its runs along
			c.stop()
		}
		p.h.stop(t)
		p.h.start(t)
	}
}

func (p *play) decide(t *testing.T) {
	id := fmt.Sprint("id-", 1+p.rng.IntN(80)) // any that was, is or will be
	if w := p.h.Pending(); len(w) > 0 && p.rng.IntN(3) > 0 {
		id = w[p.rng.IntN(len(w))].ID
	}
	scopes := []approval.Scope{approval.ScopeOnce, approval.ScopeOnce, approval.ScopeSession, approval.ScopeHere, approval.ScopeProgram,
		approval.ScopeDeny, approval.ScopeNever}
	scope := scopes[p.rng.IntN(len(scopes))]
	_, err := p.h.Resolve(t.Context(), id, scope, owner)
	switch {
	case err == nil && p.decided[id] != "":
		t.Errorf("%s was decided twice", id)
	case err == nil && p.old[id]:
		t.Errorf("%s was decided after a restart", id)
	case err == nil:
		p.decided[id] = scope
	case !errors.Is(err, approval.ErrNotFound) && !errors.Is(err, approval.ErrResolved) && !errors.Is(err, approval.ErrScope):
		t.Error(err)
	}
}

func (p *play) end(t *testing.T) {
	used := map[string]int{}
	for _, c := range p.calls {
		c.stop()
		got := <-c.out
		if got.err != nil || got.grant.Rule {
			continue
		}
		used[got.grant.ID]++
		if scope := p.decided[got.grant.ID]; scope != got.grant.Scope || !scope.Allows() {
			t.Errorf("%s was granted as %q, the owner said %q", got.grant.ID, got.grant.Scope, scope)
		}
	}
	for id, n := range used {
		if n > 1 && p.decided[id] == approval.ScopeOnce {
			t.Errorf("one yes (%s) let %d calls through", id, n)
		}
	}
	for id, scope := range p.decided {
		rec, err := p.h.Get(id)
		if err != nil || rec.Scope != scope || rec.By != owner.Name || (rec.State == approval.StateAllowed) != scope.Allows() {
			t.Errorf("%s: decided %s, kept %+v, %v", id, scope, rec, err)
		}
	}
}
