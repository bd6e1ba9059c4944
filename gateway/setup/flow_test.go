package setup_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/setup"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// hands play a computer.
type hands struct {
	choices []setup.Choice
	tested  setup.Tested
	pullErr error
	slow    chan struct{} // a pull or test waits for it, when it is there

	keeping func() // called while a key is kept

	mu   sync.Mutex
	did  []string
	kept []string
}

func (h *hands) note(s string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.did = append(h.did, s)
}

func (h *hands) wait(ctx context.Context) {
	if h.slow != nil {
		select {
		case <-h.slow:
		case <-ctx.Done():
		}
	}
}

func (h *hands) Choices() []setup.Choice { return h.choices }

func (h *hands) Import(_ context.Context, login string) (setup.Account, error) {
	h.note("import " + login)
	if login == "gone" {
		return setup.Account{}, errors.New("there is no login of this program")
	}
	return setup.Account{ID: "anthropic:" + login, Service: "anthropic"}, nil
}

func (h *hands) Keep(_ context.Context, service, key string) (setup.Account, error) {
	if service == "" && !strings.HasPrefix(key, "sk-ant-") {
		return setup.Account{}, errors.New("the key does not tell which service it is for")
	}
	h.kept = append(h.kept, "anthropic:default")
	if h.keeping != nil {
		h.keeping()
	}
	return setup.Account{ID: "anthropic:default", Service: "anthropic", Place: "keychain"}, nil
}

func (h *hands) Forget(_ context.Context, a setup.Account) error {
	h.note("forget " + a.ID)
	h.kept = slices.DeleteFunc(h.kept, func(id string) bool { return id == a.ID })
	return nil
}

func (h *hands) First(service string) (string, bool) { return service + "/first", service != "strange" }

func (h *hands) Test(ctx context.Context, model, account string, window bool) setup.Tested {
	h.wait(ctx)
	if window {
		h.note("window " + model)
	} else {
		h.note(strings.TrimSpace("test " + model + " " + account))
	}
	t := h.tested
	t.Model = model
	if window {
		t.Line += " · 32K context verified"
	}
	return t
}

func (h *hands) Prefer(_ context.Context, model string) error {
	h.note("prefer " + model)
	return nil
}

func (h *hands) Pull(ctx context.Context, model string, tell func(done, total int64)) (string, error) {
	tell(500, 2000)
	h.wait(ctx)
	if h.pullErr != nil || ctx.Err() != nil {
		return "", errors.Join(h.pullErr, ctx.Err())
	}
	tell(2000, 2000)
	return "ollama/" + model, nil
}

func (h *hands) Quiet(context.Context) error { return nil }

// world is a flow on a store of its own; life ends with end.
type world struct {
	*setup.Flow
	h    *hands
	db   *store.DB
	end  context.CancelFunc
	wait func()
}

func newWorld(t *testing.T, db *store.DB, h *hands) *world {
	t.Helper()
	if db == nil {
		var err error
		if db, err = store.Open(filepath.Join(t.TempDir(), "store"), store.Options{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close(context.WithoutCancel(t.Context())) })
	}
	book, err := setup.Load(t.Context(), db, func() (bool, error) { return false, nil })
	if err != nil {
		t.Fatal(err)
	}
	life, end := context.WithCancel(t.Context())
	var work sync.WaitGroup
	w := &world{h: h, db: db, end: end, wait: work.Wait}
	w.Flow = setup.NewFlow(setup.Options{
		Book: book, Backend: h, Changed: func() {}, Now: time.Now,
		Go: func(f func(context.Context)) { work.Go(func() { f(life) }) },
	})
	return w
}

var good = setup.Tested{OK: true, Line: "answered in 1.2 s · tools work"}

func TestUse(t *testing.T) {
	local := setup.Choice{ID: "ollama/qwen3:8b", Kind: setup.KindLocal, Name: "Qwen 3 8B", Model: "ollama/qwen3:8b"}
	login := setup.Choice{ID: "login:claude-code", Kind: setup.KindLogin, Name: "Claude Code"}
	gone := setup.Choice{ID: "login:gone", Kind: setup.KindLogin, Name: "Gone"}
	free := good
	free.Free = true
	silent := setup.Tested{Error: "Ollama does not answer. Start it and try again."}
	for name, c := range map[string]struct {
		id      string
		tested  setup.Tested
		err     error
		problem string
		did     string
		line    string
	}{
		"a model here": {id: local.ID, tested: free, did: "test ollama/qwen3:8b, prefer ollama/qwen3:8b, window ollama/qwen3:8b",
			line: "Answered in 1.2 s · tools work · 32K context verified"},
		"that costs": {id: "anthropic/claude", tested: good, did: "test anthropic/claude, prefer anthropic/claude",
			line: "Answered in 1.2 s · tools work"},
		"a login": {id: login.ID, tested: good, did: "import claude-code, test anthropic/first anthropic:claude-code, prefer " +
			"anthropic/first", line: "Answered in 1.2 s · tools work"},
		"a login that ended": {id: gone.ID, tested: good, did: "import gone", problem: "There is no login of this program."},
		"a login not here":   {id: "login:codex", err: setup.ErrUnknown},
		"nonsense":           {id: "nonsense", err: setup.ErrUnknown},
		"that does not reply": {id: local.ID, tested: silent, did: "test ollama/qwen3:8b", problem: "Ollama does not answer. Start it and try " +
			"again."},
		"an account": {id: "account:openrouter:work", tested: good, did: "test openrouter/first openrouter:work, prefer " +
			"openrouter/first", line: "Answered in 1.2 s · tools work"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil, &hands{choices: []setup.Choice{local, login, gone}, tested: c.tested})
			if err := w.Use(c.id); !errors.Is(err, c.err) {
				t.Fatalf("%v, want %v", err, c.err)
			}
			w.wait()
			_, problem := w.State()
			rec := w.Book.Get()
			if did := strings.Join(w.h.did, ", "); did != c.did || problem != c.problem || rec.Line != c.line ||
				(rec.Of(setup.Model) == setup.Done) != (c.line != "") {
				t.Errorf("did %q, problem %q, %+v", did, problem, rec)
			}
		})
	}
}

// A key that its service refuses is not kept; one whose service cannot be reached
// is, and can be tried again.
func TestKey(t *testing.T) {
	refused := setup.Tested{Error: "Anthropic refuses this key. Check it.", Refused: true}
	down := setup.Tested{Error: "Anthropic cannot be reached. Check the network."}
	for name, c := range map[string]struct {
		key     string
		tested  setup.Tested
		fails   bool
		kept    int
		problem string
		pending string
	}{
		"good":         {key: "sk-ant-good", tested: good, kept: 1},
		"wrong prefix": {key: "hello-world", fails: true},
		"refused":      {key: "sk-ant-bad", tested: refused, problem: "Anthropic refuses this key. Check it. The key was not kept."},
		"network down": {key: "sk-ant-good", tested: down, kept: 1, problem: "Anthropic cannot be reached. Check the network. Your key is " +
			"kept; try it again in a moment.", pending: "anthropic:default"},
		"named for once": {key: "hello-world", tested: good, kept: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil, &hands{tested: c.tested})
			service := ""
			if name == "named for once" {
				service = "anthropic"
			}
			if _, err := w.Key(t.Context(), service, c.key); (err != nil) != c.fails {
				t.Fatal(err)
			}
			w.wait()
			_, problem := w.State()
			if rec := w.Book.Get(); problem != c.problem || len(w.h.kept) != c.kept || rec.Pending != c.pending ||
				(rec.Of(setup.Model) == setup.Done) != (c.problem == "" && !c.fails) {
				t.Errorf("problem %q, kept %v, %+v", problem, w.h.kept, rec)
			}
		})
	}
}

// A key lies there before it was tried: whoever looks then must not take it for a choice.
func TestKeyIsNoChoiceWhileItIsKept(t *testing.T) {
	h := &hands{tested: good}
	w := newWorld(t, nil, h)
	h.keeping = func() {
		if d, _ := w.State(); d == nil || d.What != setup.DoingTest {
			t.Errorf("nothing goes on: %+v", d)
		}
		if _, err := w.Key(t.Context(), "", "sk-ant-other"); !errors.Is(err, setup.ErrBusy) {
			t.Errorf("another key meanwhile: %v", err)
		}
	}
	if _, err := w.Key(t.Context(), "", "sk-ant-good"); err != nil {
		t.Fatal(err)
	}
	w.wait()
	if rec := w.Book.Get(); rec.Of(setup.Model) != setup.Done || len(w.h.kept) != 1 {
		t.Errorf("%+v, kept %v", rec, w.h.kept)
	}
	h.keeping = nil
	if _, err := w.Key(t.Context(), "", "hello-world"); err == nil {
		t.Error("a key of no service was kept")
	}
	if d, _ := w.State(); d != nil {
		t.Errorf("it goes on with nothing: %+v", d)
	}
}

// A download that the person stops is over; one that a stop of Hearth cuts off
// goes on with the next start.
func TestDownload(t *testing.T) {
	h := &hands{tested: good, slow: make(chan struct{})}
	w := newWorld(t, nil, h)
	if err := w.Pull(t.Context(), "qwen3:8b"); err != nil {
		t.Fatal(err)
	}
	if d, _ := w.State(); d == nil || d.What != setup.DoingDownload || d.Name != "Qwen 3 8B" {
		t.Errorf("%+v", d)
	}
	if err := w.Use("ollama/other"); !errors.Is(err, setup.ErrBusy) {
		t.Errorf("two at a time: %v", err)
	}
	w.Cancel()
	w.wait()
	if rec, d := w.Book.Get(), doing(w); rec.Pull != "" || d != nil {
		t.Errorf("%+v %+v", rec, d)
	}
	if err := w.Pull(t.Context(), "qwen3:8b"); err != nil {
		t.Fatal(err)
	}
	w.end()
	w.wait()
	if rec := w.Book.Get(); rec.Pull != "qwen3:8b" {
		t.Errorf("%+v", rec)
	}
	again := newWorld(t, w.db, &hands{tested: good})
	if err := again.Resume(); err != nil {
		t.Fatal(err)
	}
	again.wait()
	if rec := again.Book.Get(); rec.Pull != "" || rec.Model != "ollama/qwen3:8b" || rec.Of(setup.Model) != setup.Done {
		t.Errorf("%+v", rec)
	}
}

func doing(w *world) *setup.Doing {
	d, _ := w.State()
	return d
}

func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWorld(t, nil, &hands{}).Book
		var over sync.WaitGroup
		own := make(chan bool, 100)
		chosen := false
		over.Go(func() { own <- b.Await(t.Context(), func() bool { return chosen }) == nil })
		synctest.Wait()
		if b.Waiting() != 1 || !b.Held() {
			t.Errorf("%d wait", b.Waiting())
		}
		b.Wake()
		synctest.Wait()
		if b.Waiting() != 1 {
			t.Error("it went on without a model")
		}
		chosen = true
		b.Wake()
		over.Wait()
		if !<-own || b.Waiting() != 0 {
			t.Error("it waits although its turn has a model")
		}
		ctx, cancel := context.WithCancel(t.Context())
		over.Go(func() { own <- b.Await(ctx, func() bool { return false }) == nil })
		synctest.Wait()
		cancel()
		over.Wait()
		if <-own {
			t.Error("it went on when its run had ended")
		}
	})
}

func TestSteps(t *testing.T) {
	w := newWorld(t, nil, &hands{})
	for _, s := range setup.Steps() {
		if w.Book.Get().Complete() {
			t.Errorf("complete before %s", s)
		}
		if err := w.Book.Set(t.Context(), s, setup.Skipped); err != nil {
			t.Fatal(err)
		}
	}
	if !w.Book.Get().Complete() || w.Book.Held() {
		t.Error("not complete")
	}
	again := newWorld(t, w.db, &hands{})
	if !again.Book.Get().Complete() {
		t.Error("forgotten")
	}
	b, err := setup.Load(t.Context(), fresh(t), func() (bool, error) { return true, nil })
	if err != nil || !b.Get().Complete() {
		t.Errorf("whoever used Hearth before meets first steps: %v", err)
	}
}

func fresh(t *testing.T) *store.DB {
	db, err := store.Open(filepath.Join(t.TempDir(), "store"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.WithoutCancel(t.Context())) })
	return db
}

func TestOffers(t *testing.T) {
	const gb = 1_000_000_000
	for ram, want := range map[int64]string{
		0: "qwen2.5:3b qwen3:0.6b qwen3:1.7b", 1 * gb: "qwen3:0.6b", 4 * gb: "qwen3:1.7b qwen3:0.6b",
		8 * gb: "qwen2.5:3b qwen3:0.6b qwen3:1.7b", 16 * gb: "qwen2.5:3b qwen3:0.6b qwen3:1.7b qwen3:8b",
		64 * gb: "qwen2.5:3b qwen3:0.6b qwen3:1.7b qwen3:8b qwen3:14b",
	} {
		var got []string
		for _, d := range setup.Offers(ram) {
			got = append(got, d.Model)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%d GB: %s, want %s", ram/gb, s, want)
		}
	}
	if setup.RAM() < 0 {
		t.Error("negative memory")
	}
}

func TestNameOf(t *testing.T) {
	for id, want := range map[string]string{
		"qwen3:8b": "Qwen 3 8B", "llama3.2:3b": "Llama 3.2 3B", "mistral": "mistral", "mistral:latest": "Mistral", "phi4": "phi4",
		"gemma3:27b-it-qat": "Gemma 3 27b-it-qat",
		"deepseek-r1:14b":   "Deepseek-r 1 14B", "hf.co/a/b:Q4": "hf.co/a/b:Q4", "": "", ":": ":", "8:8b": "8:8b",
	} {
		if got := setup.NameOf(id); got != want {
			t.Errorf("%q is %q, want %q", id, got, want)
		}
	}
}

// Where nobody shows the steps, no message waits for one.
func TestLetThrough(t *testing.T) {
	b, err := setup.Load(t.Context(), fresh(t), func() (bool, error) { return false, nil })
	if err != nil {
		t.Fatal(err)
	}
	if !b.Held() {
		t.Error("nothing waits before a model was chosen")
	}
	done := make(chan error, 1)
	go func() { done <- b.Await(t.Context(), func() bool { return false }) }()
	b.LetThrough()
	if err := <-done; err != nil || b.Held() || b.Get().Of(setup.Model) != setup.Open {
		t.Errorf("%v, held %v", err, b.Held())
	}
}
