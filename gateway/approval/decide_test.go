package approval_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
)

// Asking is the default, and with nobody there it is a no after 30 seconds.
func TestSec_A_EXEC_01_AskIsTheDefault(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		h.reachable.Store(false)
		start := time.Now()
		out := h.permit(t.Context(), ask("r1", "git push"))
		h.only(t)
		if got := <-out; !errors.Is(got.err, approval.ErrUnattended) || time.Since(start) != 30*time.Second {
			t.Errorf("after %v: %+v", time.Since(start), got)
		}
	})
}

func TestSec_A_EXEC_01_SomebodyComes(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		h.reachable.Store(false)
		out := h.permit(t.Context(), ask("r1", "git push"))
		pass(20 * time.Second)
		h.reachable.Store(true)
		pass(5 * time.Minute)
		if _, err := h.Resolve(t.Context(), h.only(t).ID, approval.ScopeOnce, owner); err != nil {
			t.Fatal(err)
		}
		if got := <-out; got.err != nil {
			t.Error(got.err)
		}
	})
}

// Only somebody with a name decides, and never the client that asked.
func TestSec_A_EXEC_19_RequesterCannotApprove(t *testing.T) {
	inBubble(t, func(t *testing.T, h *house) {
		rec, err := h.Open(t.Context(), ask("", "git push"), "device-7")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Resolve(t.Context(), rec.ID, approval.ScopeOnce, approval.Decider{Name: "it itself", ID: "device-7"}); !errors.Is(err,
			approval.ErrNotYours) {
			t.Errorf("its own: %v", err)
		}
		if _, err := h.Resolve(t.Context(), rec.ID, approval.ScopeOnce, approval.Decider{ID: "device-8"}); !errors.Is(err,
			approval.ErrMalformed) {
			t.Errorf("nobody: %v", err)
		}
		if _, err := h.Resolve(t.Context(), rec.ID, approval.ScopeOnce, owner); err != nil {
			t.Errorf("another device: %v", err)
		}
		if got, err := h.Wait(t.Context(), rec.ID); err != nil || got.State != approval.StateAllowed {
			t.Errorf("%+v %v", got, err)
		}
	})
}

// A decision counts once, for the run that waits, in time, and in this boot.
func TestSec_A_EXEC_20_NoReplay(t *testing.T) {
	t.Run("first answer wins", func(t *testing.T) {
		inBubble(t, func(t *testing.T, h *house) {
			out := h.permit(t.Context(), ask("r1", "git push"))
			id := h.only(t).ID
			var mu sync.Mutex
			won := 0
			var all sync.WaitGroup
			for i := range 50 {
				all.Go(func() {
					scope := approval.ScopeOnce
					if i%2 == 0 {
						scope = approval.ScopeDeny
					}
					_, err := h.Resolve(t.Context(), id, scope, approval.Decider{Name: fmt.Sprint("device ", i)})
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						won++
					} else if !errors.Is(err, approval.ErrResolved) {
						t.Error(err)
					}
				})
			}
			all.Wait()
			got := <-out
			rec, err := h.Get(id)
			if won != 1 || err != nil || (rec.State == approval.StateAllowed) != (got.err == nil) {
				t.Errorf("%d won; %+v; %+v", won, rec, got)
			}
		})
	})
	t.Run("another run asks again", func(t *testing.T) {
		inBubble(t, func(t *testing.T, h *house) {
			one, two := h.permit(t.Context(), ask("r1", "git push")), h.permit(t.Context(), ask("r2", "git push"))
			synctest.Wait()
			p := h.Pending()
			if len(p) != 2 {
				t.Fatalf("%d requests", len(p))
			}
			if _, err := h.Resolve(t.Context(), p[0].ID, approval.ScopeOnce, owner); err != nil {
				t.Fatal(err)
			}
			if _, err := h.Resolve(t.Context(), p[1].ID, approval.ScopeDeny, owner); err != nil {
				t.Fatal(err)
			}
			a, b := <-one, <-two
			if (a.err == nil) == (b.err == nil) {
				t.Errorf("%+v and %+v", a, b)
			}
		})
	})
	t.Run("too late", func(t *testing.T) {
		inBubble(t, func(t *testing.T, h *house) {
			out := h.permit(t.Context(), ask("r1", "git push"))
			id := h.only(t).ID
			pass(approval.MaxLife)
			synctest.Wait()
			if got := <-out; !errors.Is(got.err, approval.ErrExpired) {
				t.Errorf("%+v", got)
			}
			if _, err := h.Resolve(t.Context(), id, approval.ScopeOnce, owner); !errors.Is(err, approval.ErrResolved) {
				t.Errorf("after its time: %v", err)
			}
		})
	})
	t.Run("after a restart", func(t *testing.T) {
		inBubble(t, func(t *testing.T, h *house) {
			ctx, die := context.WithCancel(t.Context())
			defer die()
			out := h.permit(ctx, ask("r1", "git push"))
			id := h.only(t).ID
			h.stop(t)
			h.start(t)
			if _, err := h.Resolve(t.Context(), id, approval.ScopeOnce, owner); !errors.Is(err, approval.ErrResolved) {
				t.Errorf("a request of an earlier boot: %v", err)
			}
			if rec, err := h.Get(id); err != nil || rec.State != approval.StateExpired {
				t.Errorf("%+v %v", rec, err)
			}
			die()
			<-out
		})
	})
	t.Run("unknown", func(t *testing.T) {
		inBubble(t, func(t *testing.T, h *house) {
			if _, err := h.Resolve(t.Context(), "made-up", approval.ScopeOnce, owner); !errors.Is(err, approval.ErrNotFound) {
				t.Error(err)
			}
		})
	})
}

// A hundred calls bring three questions.
func TestSec_A_EXEC_27_Flood(t *testing.T) {
	t.Run("one after the other", func(t *testing.T) {
		inBubble(t, func(t *testing.T, h *house) {
			for i := range 100 {
				out := h.permit(t.Context(), ask("r1", fmt.Sprint("pwned ", i)))
				synctest.Wait()
				if p := h.Pending(); len(p) == 1 {
					if p[0].Asked != i+1 {
						t.Errorf("question %d is called number %d", i+1, p[0].Asked)
					}
					if _, err := h.Resolve(t.Context(), p[0].ID, approval.ScopeDeny, owner); err != nil {
						t.Fatal(err)
					}
				}
				got := <-out
				if i >= 3 && !errors.Is(got.err, approval.ErrTired) {
					t.Fatalf("call %d: %+v", i, got)
				}
			}
			if h.prompts() != 3 {
				t.Errorf("%d questions", h.prompts())
			}
			if asked, _ := h.asks(t, ask("r2", "ls")); !asked {
				t.Error("the next run may not ask")
			}
		})
	})
	t.Run("all at once", func(t *testing.T) {
		inBubble(t, func(t *testing.T, h *house) {
			ctx, stop := context.WithCancel(t.Context())
			var flooded, same int
			outs := make([]<-chan outcome, 100)
			for i := range outs {
				outs[i] = h.permit(ctx, ask("r1", fmt.Sprint("pwned ", i)))
			}
			synctest.Wait()
			if n := len(h.Pending()); n != 3 || h.prompts() != 3 {
				t.Errorf("%d wait, %d were asked", n, h.prompts())
			}
			first := h.Pending()[0].Ask
			twin := h.permit(ctx, first)
			synctest.Wait()
			if h.prompts() != 3 {
				same++
			}
			stop()
			<-twin
			for _, out := range outs {
				if got := <-out; errors.Is(got.err, approval.ErrFlood) {
					flooded++
				}
			}
			if flooded != 97 || same != 0 {
				t.Errorf("%d were refused; twins asked: %d", flooded, same)
			}
			synctest.Wait()
			if n := len(h.Pending()); n != 0 {
				t.Errorf("%d wait for runs that have ended", n)
			}
		})
	})
	t.Run("twins share a question and one yes", func(t *testing.T) {
		inBubble(t, func(t *testing.T, h *house) {
			var outs []<-chan outcome
			for range 10 {
				outs = append(outs, h.permit(t.Context(), ask("r1", "git push")))
			}
			if _, err := h.Resolve(t.Context(), h.only(t).ID, approval.ScopeOnce, owner); err != nil {
				t.Fatal(err)
			}
			ok := 0
			for _, out := range outs {
				if got := <-out; got.err == nil {
					ok++
				} else if !errors.Is(got.err, approval.ErrUsed) {
					t.Error(got.err)
				}
			}
			if ok != 1 {
				t.Errorf("a yes for once let %d calls through", ok)
			}
		})
	})
}

// Two clients answer the same question at the same moment, a thousand times: one
// wins, the other hears what was decided, and what runs is what the winner said.
func TestFault_F_WS_12_TwoClientsAnswerAtOnce(t *testing.T) {
	h := newHouse(t)
	for i := range 1000 {
		rec, err := h.Open(t.Context(), ask("", "git push"), "device-1")
		if err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		var errs [2]error
		scopes := [2]approval.Scope{approval.ScopeOnce, approval.ScopeDeny}
		for n := range scopes {
			both.Go(func() {
				_, errs[n] = h.Resolve(t.Context(), rec.ID, scopes[n], approval.Decider{Name: fmt.Sprint("person ", n), ID: fmt.Sprint("device-", n+2)})
			})
		}
		both.Wait()
		winner := 0
		if errs[0] != nil {
			winner = 1
		}
		if errs[winner] != nil || !errors.Is(errs[1-winner], approval.ErrResolved) {
			t.Fatalf("round %d: %v", i, errs)
		}
		got, err := h.Wait(t.Context(), rec.ID)
		if err != nil || got.By != fmt.Sprint("person ", winner) || (got.State == approval.StateAllowed) != (winner == 0) {
			t.Fatalf("round %d: %d won, the record says %+v, %v", i, winner, got, err)
		}
	}
}
