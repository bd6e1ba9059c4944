package failover

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

func ref(s string) model.Ref {
	r, ok := model.ParseRef(s)
	if !ok {
		panic(s)
	}
	return r
}

func refs(s ...string) (out []model.Ref) {
	for _, x := range s {
		out = append(out, ref(x))
	}
	return out
}

// world is an engine whose models do what the test says, and a session that
// remembers what it is told.
type world struct {
	t        *testing.T
	now      func() time.Time
	settings Settings
	accounts *book
	windows  map[string]int
	noTools  map[string]bool
	local    bool

	// model answers the n-th call (from 0) of a model with an account.
	model func(ref, account string, n int, req model.Request, yield func(model.Event) bool) error
	calls []string // "provider/model" or "provider/model@account"
	reqs  []model.Request
	count map[string]int

	session recorder
	log     bytes.Buffer
	engine  *Engine
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, now: time.Now, count: map[string]int{}, windows: map[string]int{}, noTools: map[string]bool{}, accounts: &book{},
		settings: Settings{Primary: ref("a/one"), Fallbacks: refs("b/two", "c/three"), OverloadedRotations: 1, RateLimitedRotations: 1,
			MaxWait: DefaultMaxWait}}
	w.accounts.w = w
	w.model = func(string, string, int, model.Request, func(model.Event) bool) error { return nil }
	w.engine = New(Options{
		Resolve: w.resolve, Accounts: w.accounts, Settings: func(string) Settings { return w.settings },
		Logger: slog.New(slog.NewJSONHandler(&w.log, nil)), Now: func() time.Time { return w.now() }, Jitter: func() float64 { return 1 },
	})
	return w
}

type unready struct{ class model.Class }

func (u unready) Error() string           { return "not ready: " + string(u.class) }
func (u unready) ModelClass() model.Class { return u.class }

func (w *world) resolve(_ context.Context, r model.Ref, account string) (Target, error) {
	if r == (model.Ref{}) {
		r = w.settings.Primary
	}
	if r.Provider == "gone" {
		return Target{}, unready{model.ClassConnect}
	}
	return Target{Ref: r, Provider: puppet{w, r.String(), account}, Tools: !w.noTools[r.String()], ContextWindow: w.windows[r.String()],
		Local: w.local}, nil
}

type puppet struct {
	w            *world
	ref, account string
}

func (p puppet) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		name := p.ref
		if p.account != "" {
			name += "@" + p.account
		}
		n := p.w.count[name]
		p.w.count[name]++
		p.w.calls = append(p.w.calls, name)
		p.w.reqs = append(p.w.reqs, req)
		left := false
		err := p.w.model(p.ref, p.account, n, req, func(e model.Event) bool {
			left = !yield(e, nil)
			return !left
		})
		switch {
		case left:
		case ctx.Err() != nil:
			yield(model.Event{}, ctx.Err())
		case err != nil:
			yield(model.Event{}, err)
		default:
			yield(model.Event{Kind: model.EventStop, Stop: model.StopEnd}, nil)
		}
	}
}

func say(yield func(model.Event) bool, words string) error {
	yield(model.Event{Kind: model.EventText, Text: words})
	return nil
}

func fault(class model.Class, status int) error {
	return &model.Error{Class: class, Status: status, Detail: "said " + string(class)}
}

// failing makes some models fail in one way; the others say their name.
func (w *world) failing(err error, names ...string) {
	w.model = func(r, _ string, _ int, _ model.Request, yield func(model.Event) bool) error {
		if slices.Contains(names, r) {
			return err
		}
		return say(yield, "I am "+r)
	}
}

// ask makes one run of one call.
func (w *world) ask(sel Selection) (string, error) {
	w.t.Helper()
	t, err := w.engine.Begin(w.t.Context(), sel, &w.session)
	if err != nil {
		return "", err
	}
	return w.stream(t, model.Request{Messages: []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Text: "hello"}}}}})
}

func (w *world) stream(t Target, req model.Request) (string, error) {
	var b strings.Builder
	for ev, err := range t.Provider.Stream(w.t.Context(), req) {
		if err != nil {
			return b.String(), err
		}
		b.WriteString(ev.Text)
	}
	return b.String(), nil
}

func (w *world) want(sel Selection, answer string, calls ...string) {
	w.t.Helper()
	got, err := w.ask(sel)
	if err != nil || got != answer {
		w.t.Errorf("answer %q, %v; want %q", got, err, answer)
	}
	w.called(calls...)
}

func (w *world) called(calls ...string) {
	w.t.Helper()
	if !slices.Equal(w.calls, calls) {
		w.t.Errorf("asked %v, want %v", w.calls, calls)
	}
	w.calls = nil
}

func summaryOf(t *testing.T, err error) *SummaryError {
	t.Helper()
	var s *SummaryError
	if !errors.As(err, &s) {
		t.Fatalf("%v is no summary", err)
	}
	return s
}

// recorder is a session.
type recorder struct {
	events   []string
	override *Override
	landings []Landing
	attempts []Attempt
	pending  *Selection
}

func (s *recorder) Persist(_ context.Context, o Override) error {
	s.override = &o
	s.events = append(s.events, "persist "+o.Ref.String())
	return nil
}

func (s *recorder) Rollback(_ context.Context, failed Override) {
	s.events = append(s.events, "rollback "+failed.Ref.String())
	if s.override != nil && s.override.Ref == failed.Ref {
		s.override = nil
	}
}

func (s *recorder) Asking(t Target) { s.events = append(s.events, "ask "+t.Ref.String()) }

func (s *recorder) Landed(_ context.Context, l Landing) {
	s.landings = append(s.landings, l)
	s.events = append(s.events, "landed "+l.Active.String())
}

func (s *recorder) Switched() (Selection, bool) {
	if s.pending == nil {
		return Selection{}, false
	}
	sel := *s.pending
	s.pending = nil
	return sel, true
}

func (s *recorder) Noted(_ context.Context, a Attempt) { s.attempts = append(s.attempts, a) }
func (s *recorder) Waiting(d time.Duration, why Reason) {
	s.events = append(s.events, "wait "+d.String()+" "+string(why))
}

// book has accounts as the test lists them.
type book struct {
	w      *world
	list   map[string][]AccountState // by provider
	models map[string]time.Time      // "account model" → blocked until
	fails  []string
	good   []string
}

func (b *book) Candidates(provider, modelID string, pin Pinned) []AccountState {
	var free, blocked []AccountState
	for _, a := range b.list[provider] {
		if pin.User && pin.ID != a.ID {
			continue
		}
		if until := b.models[a.ID+" "+modelID]; until.After(a.Until) {
			a.Until, a.Reason, a.Scoped = until, ReasonRateLimit, true
		}
		switch {
		case a.Until.After(b.w.now()):
			blocked = append(blocked, a)
		case a.ID == pin.ID:
			free = append([]AccountState{a}, free...)
		default:
			free = append(free, a)
		}
	}
	slices.SortStableFunc(blocked, func(x, y AccountState) int { return x.Until.Compare(y.Until) })
	return append(free, blocked...)
}
func (b *book) Used(context.Context, string) {}
func (b *book) Failed(_ context.Context, id, modelID string, f FailedCall) {
	b.fails = append(b.fails, id+" "+modelID+" "+string(f.Class))
}
func (b *book) Succeeded(_ context.Context, id, modelID string) {
	b.good = append(b.good, id+" "+modelID)
}

// rest blocks all accounts of a provider.
func (b *book) rest(provider string, why Reason, d time.Duration) {
	for i := range b.list[provider] {
		b.list[provider][i].Until, b.list[provider][i].Reason = b.w.now().Add(d), why
	}
}
