package imports_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/internal/seed"
)

func TestMain(m *testing.M) { gatewaytest.Main(m) }

// large is a home whose import takes several transactions of each kind.
const (
	largeChats    = 6
	largeMessages = 460 // more than two transactions hold
	largeFiles    = 25
)

func largeHome(t *testing.T) string {
	t.Helper()
	dir := home(t)
	put := func(name, text string) { gatewaytest.PutFile(t, dir, name, []byte(text)) }
	index := []string{`"agent:main:main":{"sessionId":"s-1"}`, `"agent:main:work":{"sessionId":"s-2","label":"Work"}`}
	for c := range largeChats {
		var all []string
		for m := range largeMessages {
			role := []string{"user", "assistant"}[m%2]
			at := time.Date(2026, 4, 1+c, 8, 0, m, 0, time.UTC).Format(time.RFC3339)
			all = append(all, fmt.Sprintf(`{"type":"message","id":"m%d","timestamp":%q,"message":{"role":%q,"content":"said %d-%d"}}`,
				m, at, role, c, m))
		}
		put(fmt.Sprintf("agents/main/sessions/large-%d.jsonl", c), lines(all...))
		index = append(index, fmt.Sprintf(`"agent:main:large-%[1]d":{"sessionId":"large-%[1]d","label":"Large %[1]d"}`, c))
	}
	put("agents/main/sessions/sessions.json", "{"+strings.Join(index, ",")+"}")
	for n := range largeFiles {
		put(fmt.Sprintf("workspace/memory/2026-03-%02d.md", n+1), fmt.Sprintf("# March\n\nNote %d.\n", n))
	}
	put("agents/main/agent/auth-profiles.json",
		`{"version":1,"profiles":{"openai:default":{"type":"api_key","provider":"openai","key":"sk-imported-000000000000000000000000"}}}`)
	return dir
}

// killing is a gateway that imports and is killed at it.
type killing struct {
	*gatewaytest.Victim
	t      *testing.T
	r      *rand.Rand
	source string
	took   time.Duration // a whole import
	kills  int
	found  map[string]int // what a person saw after a kill
}

func (k *killing) up() here {
	k.t.Helper()
	k.Start("")
	return k.peer()
}

func (k *killing) peer() here {
	k.t.Helper()
	c := k.Dial(k.Background(), nil)
	if c == nil {
		k.t.Fatal("the gateway does not answer")
	}
	k.t.Cleanup(func() { _ = c.Close() })
	return here{Peer: &gatewaytest.Peer{Client: c, T: k.t}, t: k.t}
}

// begin starts the import, by retrying the one that was cut off where one was.
func (k *killing) begin(h here) (id string) {
	k.t.Helper()
	if cut := k.cut(h); cut != nil && k.r.IntN(2) == 0 {
		h.Do(protocol.MethodTasksRetry, protocol.TaskIDsParams{TaskIDs: []string{cut.ID}}, nil)
		k.found["done again"]++
	} else {
		h.Do(protocol.MethodImportStart, protocol.ImportParams{From: "openclaw", Path: k.source}, &protocol.ImportStarted{})
	}
	for _, one := range k.tasks(h) {
		if one.Open() {
			return one.ID
		}
	}
	return ""
}

func (k *killing) tasks(h here) (out []protocol.TaskView) {
	k.t.Helper()
	var list protocol.TaskViews
	h.Do(protocol.MethodTaskViews, protocol.TasksListParams{}, &list)
	for _, one := range list.Tasks {
		if one.Kind == protocol.TaskImport {
			out = append(out, one)
		}
	}
	return out
}

// cut is the import that a kill cut off, as the list of tasks shows it.
func (k *killing) cut(h here) *protocol.TaskView {
	k.t.Helper()
	list := k.tasks(h)
	if len(list) == 0 {
		return nil
	}
	switch one := list[0]; {
	case one.Open():
		k.t.Fatalf("an import that was killed is shown as %s", one.Status)
	case one.Hearth.Interrupted && one.Hearth.CanRetry:
		return &one
	case one.Status != protocol.TaskCompleted:
		k.t.Fatalf("after a kill the import is %s, and nothing can be done about it: %+v", one.Status, one)
	}
	return nil
}

// prefix fails when of a large chat something stands twice, or a later message
// without an earlier one.
func (k *killing) prefix(h here) (messages int) {
	k.t.Helper()
	var list protocol.SessionsList
	h.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	for _, s := range list.Sessions {
		if !strings.HasPrefix(s.DerivedTitle, "Large ") {
			continue
		}
		c := strings.TrimPrefix(s.DerivedTitle, "Large ")
		var after int64
		for at, more := 0, true; more; {
			var page protocol.TranscriptExport
			h.Do(protocol.MethodTranscriptExport, protocol.TranscriptExportParams{Key: s.Key, After: after}, &page)
			for _, m := range page.Messages {
				if want := fmt.Sprintf("said %s-%d", c, at); m.Text() != want {
					k.t.Fatalf("%s: message %d is %q, want %q", s.Key, at, m.Text(), want)
				}
				at, messages, after = at+1, messages+1, m.Meta.Seq
			}
			more = page.HasMore
		}
	}
	return messages
}

// whole is that everything is here once: after an import to its end, another finds
// nothing new, and what was taken is what a machine takes that is never killed.
func (k *killing) whole(h here, want string) {
	k.t.Helper()
	const second = "chat 0/0/8/0"
	rep := h.take("openclaw", k.source)
	got := counts(h.plan("openclaw", k.source))
	if !strings.Contains(got, second) || strings.ContainsAny(strings.Map(news, got), "123456789") {
		k.t.Fatalf("after the end there is still something new: %s; it brought %s", got, counts(rep))
	}
	if n := k.prefix(h); n != largeChats*largeMessages {
		k.t.Fatalf("%d messages, want %d", n, largeChats*largeMessages)
	}
	if got := h.state(); got != want {
		k.t.Fatalf("it holds\n%s, want\n%s", got, want)
	}
}

// news keeps the first two numbers of each row of counts: what is new, and grown.
var news = func() func(rune) rune {
	field := 0
	return func(r rune) rune {
		switch {
		case r == ',':
			field = 0
		case r == '/':
			field++
		case field < 2 && r >= '0' && r <= '9':
			return r
		}
		return -1
	}
}()

// state is what an import leaves but for the chats, in words that can be compared.
func (h here) state() string {
	h.t.Helper()
	var out []string
	err := filepath.WalkDir(h.ws, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		name, _ := filepath.Rel(h.ws, p)
		if !strings.HasPrefix(filepath.Base(p), ".hearth-") { // of a write that was killed: `hearth doctor --fix` removes it
			out = append(out, fmt.Sprintf("file %s %d", name, len(b)))
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	var jobs protocol.CronList
	h.Do(protocol.MethodCronList, protocol.CronListParams{IncludeDisabled: true}, &jobs)
	for _, j := range jobs.Jobs {
		if j.Enabled != nil && !*j.Enabled {
			out = append(out, "job "+j.Name)
		}
	}
	var people protocol.ContactsList
	h.Do(protocol.MethodContactsList, nil, &people)
	for _, p := range people.Contacts {
		out = append(out, "person "+p.ID)
	}
	var cfg protocol.ConfigSnapshot
	h.Do(protocol.MethodConfigGet, nil, &cfg)
	for _, part := range []string{"[claw]", "My", "Vienna", "imported-000"} {
		out = append(out, fmt.Sprint("settings ", part, strings.Count(string(cfg.Parsed), part)))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// TestFault_F_OPS_ImportKilled kills gateways that import, at random moments. After
// each the gateway starts, what its person said is there, what came in stands in
// order and once, the task says that it was cut off and can be done again; in the
// end all of it is there, as without a kill.
func TestFault_F_OPS_ImportKilled(t *testing.T) {
	source := largeHome(t)
	before := tree(t, source)
	k := &killing{Victim: gatewaytest.NewVictim(t, "chat/echo"), t: t, r: seed.New(t), source: source, found: map[string]int{}}
	h := k.fresh()
	began := time.Now()
	h.take("openclaw", k.source)
	k.took = time.Since(began)
	calm := h.state()
	for want := seed.Rounds(12, 250); k.kills < want; {
		k.world(want, calm)
	}
	if tree(t, source) != before {
		t.Error("something in the source was changed")
	}
	t.Logf("%d kills of imports of %v; then: %v", k.kills, k.took.Round(time.Millisecond), k.found)
}

// fresh is a Hearth in which something was said.
func (k *killing) fresh() here {
	k.t.Helper()
	k.Kill()
	k.Dir = statedir.Dir(k.t.TempDir())
	gatewaytest.WriteConfig(k.t, k.Dir, k.ModelURL, "chat/echo")
	h := k.up()
	h.ws = gatewaytest.Workspace(k.t, h.Peer)
	h.Patch(map[string]any{"secrets": map[string]any{"backend": "plain"}})
	c, _, _ := k.Deliver(k.Background(), nil, "main", "said", "remember the bread")
	k.Settled("main")
	_ = c.Close()
	return h
}

// world is one Hearth, in which an import is killed several times and then comes to
// its end.
func (k *killing) world(most int, calm string) {
	k.t.Helper()
	h := k.fresh()
	for try := 0; try < 4 && k.kills < most; try++ {
		id := k.begin(h)
		whole := k.took / time.Duration(1+try) // what came in before does not come again
		<-time.After(time.Duration(k.r.Int64N(int64(whole))))
		k.Kill()
		k.kills++
		h = k.again(h)
		k.seen(h, id)
	}
	k.whole(h, calm)
	k.found["whole in the end"]++
}

func (k *killing) again(old here) here {
	_ = old.Close() // its gateway is gone
	h := k.up()
	h.ws = old.ws
	return h
}

// seen looks at what a person sees after a kill.
func (k *killing) seen(h here, id string) {
	k.t.Helper()
	if first := h.History("main").Messages; len(first) == 0 || !strings.Contains(first[0].Text(), "bread") {
		k.t.Fatal("what was said before the import is gone")
	}
	n, cut := k.prefix(h), k.cut(h)
	switch {
	case cut == nil:
		k.found["at its end"]++
	case cut.ID != id:
		k.t.Fatalf("the import that was killed is not in the list, or not the newest: %+v", cut)
	case n == 0:
		k.found["cut off before the chats"]++
	default:
		k.found["cut off within the chats"]++
	}
}
