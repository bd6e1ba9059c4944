package failover

import (
	"context"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Run answers one turn. It is used by one goroutine.
type Run struct {
	e        *Engine
	session  Session
	settings Settings
	sel      Selection
	chain    []model.Ref
	window   int // of the first target: what requests are made for

	at        int // of the candidate in use
	open      bool
	target    Target
	accounts  []AccountState // of the candidate; the first is in use
	known     int            // how many accounts its service has
	probing   bool
	persisted *Override
	landed    bool

	probed   map[string]bool // services
	attempts []Attempt
	last     error
	left     Reason // why the selected model was left
}

// Begin finds the first candidate that can be asked. The target's provider is
// the run itself. session may be nil.
func (e *Engine) Begin(ctx context.Context, sel Selection, session Session) (Target, error) {
	if session == nil {
		session = alone{}
	}
	r := &Run{e: e, session: session, settings: e.o.Settings(sel.Session)}
	if err := r.choose(ctx, sel); err != nil {
		return Target{}, err
	}
	if err := r.seek(ctx); err != nil {
		return Target{}, err
	}
	t := r.target
	r.window = t.ContextWindow
	t.Provider = r
	return t, nil
}

// choose makes the chain of a selection.
func (r *Run) choose(ctx context.Context, sel Selection) error {
	if p := r.settings.Primary; sel.Source == SourceAuto && p != (model.Ref{}) && sel.Origin != p {
		sel.Ref, sel.Source, sel.Origin, sel.Reason = p, SourceDefault, model.Ref{}, "" // the default is another one by now
	}
	if sel.Ref == (model.Ref{}) {
		t, err := r.e.o.Resolve(ctx, model.Ref{}, "")
		switch {
		case err == nil:
			sel.Ref = t.Ref
		case r.settings.Primary != (model.Ref{}) && ctx.Err() == nil:
			sel.Ref = r.settings.Primary // it fails again, as a candidate
		default:
			return err
		}
	}
	if sel.Source == "" {
		sel.Source = SourceDefault
	}
	r.sel, r.at, r.open, r.landed, r.persisted, r.left = sel, 0, false, false, nil, ""
	r.attempts, r.last, r.probed = nil, nil, map[string]bool{}
	r.chain = Chain(sel, r.settings.Primary, r.settings.Fallbacks)
	if sel.Source == SourceAuto {
		r.left = sel.Reason
		if r.probesPrimary() {
			r.chain = Chain(Selection{Ref: sel.Origin, Source: SourceDefault}, sel.Ref, nil)
			for _, ref := range Chain(sel, r.settings.Primary, r.settings.Fallbacks) {
				if !slices.Contains(r.chain, ref) {
					r.chain = append(r.chain, ref)
				}
			}
		}
	}
	return nil
}

// probesPrimary: a session on a fallback tries what was selected every five
// minutes.
func (r *Run) probesPrimary() bool {
	return r.sel.Origin != (model.Ref{}) && r.sel.Origin != r.sel.Ref &&
		r.e.probes.due(r.sel.Session, r.sel.Origin, r.e.o.Now())
}

// pin is the account that a candidate keeps to: the session's, in the service of
// the selected model.
func (r *Run) pin(ref model.Ref) Pinned {
	if ref.Provider == r.sel.Ref.Provider || ref.Provider == r.sel.selected().Provider {
		return r.sel.Pin
	}
	return Pinned{}
}

// candidates are the accounts of a candidate. A pin of the person whose account
// is gone leaves nothing else: asking for it tells so.
func (r *Run) candidates(ref model.Ref) []AccountState {
	pin := r.pin(ref)
	list := r.e.o.Accounts.Candidates(ref.Provider, ref.Model, pin)
	if len(list) == 0 && pin.User && pin.ID != "" {
		return []AccountState{{ID: pin.ID}}
	}
	return list
}

func (r *Run) ref() model.Ref { return r.chain[r.at] }

// seek goes to the next candidate, from the current one on, that can be asked.
func (r *Run) seek(ctx context.Context) error {
	for ; r.at < len(r.chain); r.at++ {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		v := r.judge()
		if !v.ask {
			r.skip(ctx, v)
			continue
		}
		r.accounts, r.probing = v.accounts, v.probe
		if v.probe {
			r.probed[r.ref().Provider] = true
			r.e.probes.probed(r.ref().Provider, r.e.o.Now())
			r.logProbe(ctx, v)
		}
		if err := r.persist(ctx); err != nil {
			return err
		}
		ok, err := r.resolve(ctx)
		if err != nil {
			return err
		}
		if ok {
			return nil
		}
		r.rollback(ctx)
	}
	return r.exhausted(ctx)
}

func (r *Run) judge() verdict {
	ref, now := r.ref(), r.e.o.Now()
	accounts := r.candidates(ref)
	r.known = len(accounts)
	return decide(situation{
		accounts: accounts, now: now, primary: r.at == 0, sole: len(r.chain) == 1,
		sibling:   r.at > 0 && ref.Provider == r.chain[0].Provider,
		throttled: r.e.probes.throttled(ref.Provider, now), probed: r.probed[ref.Provider],
	})
}

func (r *Run) skip(ctx context.Context, v verdict) {
	a := Attempt{Ref: r.ref(), Reason: v.reason, Skipped: true, Until: v.until, At: r.e.o.Now(), Detail: "its accounts are resting"}
	r.leave(v.reason)
	r.attempts = append(r.attempts, a)
	r.session.Noted(ctx, a)
	r.logSkip(ctx, a)
}

// leave remembers why the selected model does not answer.
func (r *Run) leave(reason Reason) {
	if r.ref() == r.sel.selected() || r.left == "" {
		r.left = reason
	}
	if r.ref() == r.sel.selected() {
		r.e.probes.tried(r.sel.Session, r.ref(), r.e.o.Now())
	}
}

// resolve makes the candidate ready with the first of its accounts that works;
// ok is false when none does.
func (r *Run) resolve(ctx context.Context) (ok bool, err error) {
	for {
		start := r.e.o.Now()
		t, err := r.e.o.Resolve(ctx, r.ref(), r.account())
		if err == nil {
			r.target, r.open, r.landed = t, true, false
			r.chain[r.at] = t.Ref // as its service spells it
			r.e.o.Accounts.Used(ctx, r.account())
			r.session.Asking(t)
			return true, nil
		}
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		r.failed(ctx, err, Attempt{At: start, Nobody: true})
		if len(r.accounts) < 2 {
			return false, nil
		}
		r.accounts = r.accounts[1:]
	}
}

func (r *Run) account() string {
	if len(r.accounts) == 0 {
		return ""
	}
	return r.accounts[0].ID
}

// persist remembers a fallback before it is asked.
func (r *Run) persist(ctx context.Context) error {
	ref := r.ref()
	if r.at == 0 || ref == r.sel.selected() || r.sel.Source == SourceAuto && ref == r.sel.Ref {
		return nil
	}
	o := Override{Ref: ref, Account: r.account(), Origin: r.sel.selected(), Reason: r.left}
	if err := r.session.Persist(ctx, o); err != nil {
		return err
	}
	r.persisted = &o
	return nil
}

func (r *Run) rollback(ctx context.Context) {
	if r.persisted != nil {
		r.session.Rollback(ctx, *r.persisted)
		r.persisted = nil
	}
}

// fail notes that a service which was asked failed.
func (r *Run) fail(ctx context.Context, err error, start time.Time, used model.Usage) {
	r.failed(ctx, err, Attempt{At: start, Usage: used})
}

// failed notes a failed attempt and tells the account.
func (r *Run) failed(ctx context.Context, err error, a Attempt) {
	a.Ref, a.Account, a.Reason, a.Took = r.ref(), r.account(), ReasonOf(err), r.e.o.Now().Sub(a.At)
	a.Detail, a.Status = detailOf(err)
	r.leave(a.Reason)
	r.last = err
	r.attempts = append(r.attempts, a)
	if a.Account != "" && blames(err, a.Reason) {
		r.e.o.Accounts.Failed(ctx, a.Account, a.Ref.Model, FailedCall{Class: classOf(err), RetryAfter: retryAfter(err)})
	}
	r.session.Noted(ctx, a)
	r.logFailure(ctx, a)
}

// exhausted is the end of the chain. One failure of the only candidate speaks
// for itself.
func (r *Run) exhausted(ctx context.Context) error {
	r.open = false
	if len(r.attempts) == 1 && !r.attempts[0].Skipped && r.last != nil {
		return r.last
	}
	s := &SummaryError{Attempts: r.attempts, Last: r.last, Soonest: r.soonest()}
	r.logExhausted(ctx, s)
	return s
}

// land says that the model answers.
func (r *Run) land(ctx context.Context) {
	if r.landed {
		return
	}
	r.landed = true
	if id := r.account(); id != "" {
		r.e.o.Accounts.Succeeded(ctx, id, r.ref().Model)
	}
	l := Landing{Selected: r.sel.selected(), Active: r.ref(), Account: r.account(), Accounts: r.known}
	if l.Active != l.Selected {
		l.Reason = r.left
	}
	r.logLanded(ctx, l)
	r.session.Landed(ctx, l)
}

// reselect follows the person's choice of another model: it jumps to that
// model, and from then on the new selection's rules hold.
func (r *Run) reselect(ctx context.Context) (switched bool, err error) {
	sel, ok := r.session.Switched()
	if !ok {
		return false, nil
	}
	from := r.target.Ref
	if err := r.choose(ctx, sel); err != nil {
		return true, err
	}
	r.logSwitch(ctx, from)
	return true, r.seek(ctx)
}
