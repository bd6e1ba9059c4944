package search

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// shelf is a Source in memory.
type shelf struct {
	mu     sync.Mutex
	order  []transcript // past ones too, the last used last
	msgs   map[string][]protocol.Message
	open   map[string]int // by id: how many at the end have not settled
	reads  int
	hidden map[string]map[int64]bool // by transcript: what stands on other branches
}

func newShelf() *shelf {
	return &shelf{msgs: map[string][]protocol.Message{}, open: map[string]int{}, hidden: map[string]map[int64]bool{}}
}

func idOf(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// say adds a message to a transcript.
func (s *shelf) say(key string, n int, role, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := idOf(n)
	if _, ok := s.msgs[id]; !ok {
		s.order = append(s.order, transcript{key, id, "title " + key})
	}
	seq := int64(len(s.msgs[id]) + 1)
	s.msgs[id] = append(s.msgs[id], protocol.Message{
		Role: role, Content: protocol.TextBlocks(text), Timestamp: int64(len(s.msgs))*1000 + seq,
		Meta: &protocol.MessageMeta{ID: fmt.Sprintf("%d/%d", n, seq), Seq: seq},
	})
}

func (s *shelf) remove(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order = slices.DeleteFunc(s.order, func(t transcript) bool {
		if t.key == key {
			delete(s.msgs, t.id)
		}
		return t.key == key
	})
}

func (s *shelf) Transcripts(key string, fn func(key, id, title string) error) error {
	s.mu.Lock()
	all := slices.Clone(s.order)
	s.mu.Unlock()
	for _, t := range all {
		if key == "" || t.key == key {
			if err := fn(t.key, t.id, t.title); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *shelf) Transcript(key, id string) (string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.order {
		if t.key == key && t.id == id {
			return t.title, true, nil
		}
	}
	return "", false, nil
}

func (s *shelf) Entries(id string, after int64, limit int) ([]protocol.Message, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	all := s.msgs[id]
	settled := len(all) - s.open[id]
	all = all[min(int(after), len(all)):]
	all = all[:min(limit, len(all))]
	return slices.Clone(all), max(0, min(len(all), settled-int(after))), nil
}

func (s *shelf) Shown(_, id string) (func(int64) bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hidden := s.hidden[id]
	return func(seq int64) bool { return !hidden[seq] }, nil
}

func (s *shelf) Entry(id string, seq int64) (protocol.Message, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seq < 1 || int(seq) > len(s.msgs[id]) {
		return protocol.Message{}, false, nil
	}
	return s.msgs[id][seq-1], true, nil
}

func newIndex(t testing.TB, s Source) *Index {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "s.db"), store.Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.WithoutCancel(t.Context())) })
	return New(Options{DB: db, Source: s, Logger: slog.New(slog.DiscardHandler)})
}

func find(t testing.TB, x *Index, query, key string) (ids string) {
	t.Helper()
	res, err := x.Find(t.Context(), Params{Query: query, Key: key})
	if err != nil {
		t.Fatalf("find %q: %v", query, err)
	}
	var out []string
	for _, h := range res.Results {
		out = append(out, h.MessageID)
	}
	return strings.Join(out, " ")
}

func fill(s *shelf) {
	s.say("a", 1, "user", "Where is the Café in Zürich?")
	s.say("a", 1, "assistant", "The café is in the Niederdorf, near the STRASSE of the same name.")
	s.say("a", 1, "toolResult", "cafe zurich secret tool output")
	s.say("b", 2, "user", "東京タワーの高さは何メートルですか。")
	s.say("b", 2, "assistant", "東京タワーは333メートルです。 Tokyo Tower is 333 m high.")
	s.say("c", 3, "user", "Ёлка, ёж и йогурт. Ὀδυσσεύς. שָׁלוֹם")
	s.say("c", 3, "assistant", "ambulance amber")
}

func TestFindsWords(t *testing.T) {
	s := newShelf()
	fill(s)
	x := newIndex(t, s)
	tests := []struct{ name, query, key, want string }{
		{"accents and case", "cafe", "", "1/2 1/1"},
		{"accents in the query", "CAFÉ zürich", "", "1/1"},
		{"all words", "cafe niederdorf", "", "1/2"},
		{"all words, any order", "zurich where", "", "1/1"},
		{"last is a prefix", "nieder", "", "1/2"},
		{"only the last", "nieder cafe", "", ""},
		{"a space ends it", "nieder ", "", ""},
		{"sharp s", "straße", "", "1/2"},
		{"two runes", "東京", "", "2/2 2/1"},
		{"one rune", "京", "", "2/2 2/1"},
		{"last rune of a run", "す", "", "2/2 2/1"},
		{"neighbours that are not", "京東", "", ""},
		{"a run inside", "タワーの高さ", "", "2/1"},
		{"pairs there, the run is not", "ワーは高", "", ""},
		{"mixed scripts", "333 東京 tower", "", "2/2"},
		{"cyrillic", "елка еж", "", "3/1"},
		{"greek, final sigma", "οδυσσευσ", "", "3/1"},
		{"hebrew points", "שלום", "", "3/1"},
		{"prefix of both", "amb", "", "3/2"},
		{"one session", "amb", "a", ""},
		{"one session, here", "cafe", "a", "1/2 1/1"},
		{"tool results are not read", "secret", "", ""},
		{"nothing", "xyzzy", "", ""},
	}
	check := func(t *testing.T) {
		for _, tc := range tests {
			t.Run(tc.name, func(t *testing.T) {
				if got := find(t, x, tc.query, tc.key); got != tc.want {
					t.Errorf("%q in %q finds %q, want %q", tc.query, tc.key, got, tc.want)
				}
			})
		}
	}
	x.Touch("a")
	x.Touch("b")
	x.Touch("c")
	t.Run("not in the index yet", check)
	if err := x.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := x.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(x.dirty) != 0 || x.building {
		t.Fatalf("after catching up %v are left, building %v", x.dirty, x.building)
	}
	t.Run("from the index", check)
	for _, q := range []string{"", "  ", "?!", "\u0301"} {
		if _, err := x.Find(t.Context(), Params{Query: q}); err == nil {
			t.Errorf("query %q is no error", q)
		}
	}
}

// Messages of turns that have not ended are found at once, and taken into the
// index when they have.
func TestUnsettledMessagesAreFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		x := newIndex(t, s)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { x.Run(ctx); close(done) }()
		s.say("a", 1, "user", "one")
		s.say("a", 1, "user", "two")
		s.mu.Lock()
		s.open[idOf(1)] = 1
		s.mu.Unlock()
		x.Touch("a")
		if got := find(t, x, "two", ""); got != "1/2" {
			t.Errorf("at once: %q", got)
		}
		<-time.After(3 * time.Second)
		if up, _ := x.upTo(idOf(1)); up != 1 {
			t.Errorf("taken up to %d, want 1", up)
		}
		if got := find(t, x, "two", ""); got != "1/2" {
			t.Errorf("while open: %q", got)
		}
		s.mu.Lock()
		s.open[idOf(1)] = 0
		s.mu.Unlock()
		x.Touch("a")
		<-time.After(3 * time.Second)
		if up, _ := x.upTo(idOf(1)); up != 2 {
			t.Errorf("taken up to %d, want 2", up)
		}
		reads := s.reads
		if got := find(t, x, "two", ""); got != "1/2" || s.reads != reads {
			t.Errorf("settled: %q, %d reads of entries", got, s.reads-reads)
		}
		stop()
		<-done
	})
}

// Deleted sessions vanish: from the results at once, and their words from the
// store.
func TestDeletedSessionsVanish(t *testing.T) {
	s := newShelf()
	fill(s)
	for i := range 300 {
		s.say("d", 4, "user", fmt.Sprintf("amber number%d hushhush", i))
		s.say("e", 5, "user", fmt.Sprintf("amber keeps%d", i))
	}
	x := newIndex(t, s)
	if err := x.catchUpAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := find(t, x, "number17", ""); !strings.HasPrefix(got, "4/") {
		t.Fatal(got)
	}
	s.remove("d")
	if got := find(t, x, "hushhush", ""); got != "" {
		t.Errorf("deleted, and found: %s", got)
	}
	x.Touch("d")
	if err := x.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := x.DB.View(func(tx *store.Tx) error {
		for k := range x.t.postings.ScanRaw(tx, store.Range{}) {
			if strings.Contains(string(k), "hush") || strings.Contains(string(k), "number") {
				t.Errorf("the word %q is still in the store", k)
			}
		}
		if n := x.t.docs.Count(tx); n != 306 {
			t.Errorf("%d messages are in the index, want 306", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := find(t, x, "amber", "e"); len(strings.Fields(got)) != DefaultLimit {
		t.Errorf("the others: %s", got)
	}
	if got := find(t, x, "amber ambulance", ""); got != "3/2" {
		t.Errorf("the others: %s", got)
	}
}

// A crash between the parts of a flush costs nothing: the work is done again.
func TestFault_F_CRASH_12_FlushCutShort(t *testing.T) {
	s := newShelf()
	fill(s)
	x := newIndex(t, s)
	if err := x.catchUpAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.say("a", 1, "user", "cafe again")
	s.say("b", 2, "user", "cafe elsewhere")
	b := x.newBuilder()
	for _, id := range []int{2, 1} { // in another order than the next time
		if _, err := x.takeSettled(t.Context(), b, transcript{key: "b", id: idOf(id)}); err != nil {
			t.Fatal(err)
		}
	}
	err := x.DB.Update(t.Context(), store.Write{Do: func(tx *store.Tx) error {
		b.base = 6
		for term := range b.postings {
			if err := b.putTerm(tx, term); err != nil {
				return err
			}
		}
		return nil // and no finish: the process died
	}})
	if err != nil {
		t.Fatal(err)
	}
	y := New(x.Options)
	if err := y.catchUpAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := find(t, y, "cafe", ""); got != "1/4 2/3 1/2 1/1" {
		t.Errorf("found %s", got)
	}
	if got := find(t, y, "cafe again", ""); got != "1/4" {
		t.Errorf("found %s", got)
	}
}

// An index of another version, or none, is made anew.
func TestIndexIsRebuilt(t *testing.T) {
	s := newShelf()
	fill(s)
	x := newIndex(t, s)
	if err := x.catchUpAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := x.DB.Update(t.Context(), store.Write{Do: func(tx *store.Tx) error {
		if err := x.t.postings.PutRaw(tx, rowKey("stale", 0), docKey(0)); err != nil {
			return err
		}
		return x.t.state.Put(tx, stateKey, state{Version: version + 1, Next: 9})
	}})
	if err != nil {
		t.Fatal(err)
	}
	y := New(x.Options)
	if err := y.catchUpAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := find(t, y, "cafe", ""); got != "1/2 1/1" {
		t.Errorf("found %s", got)
	}
}

// The index and reading every message agree, whatever the messages and the
// order in which they came.
func TestIndexAgreesWithReading(t *testing.T) {
	s := newShelf()
	words := strings.Fields("alpha beta gamma delta alphabet été ete Straße 東京 東 京都 a b c longlonglonglonglonglonglongwordA " +
		"longlonglonglonglonglonglongwordB")
	x := newIndex(t, s)
	n := uint32(1)
	rnd := func(k int) int { n = n*1664525 + 1013904223; return int(n>>8) % k }
	for round := range 12 {
		for range 40 {
			var text []string
			for range 1 + rnd(6) {
				text = append(text, words[rnd(len(words))])
			}
			k := rnd(5)
			s.say(fmt.Sprint("k", k), k, "user", strings.Join(text, " "))
			x.Touch(fmt.Sprint("k", k))
		}
		if err := x.catchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 30 {
			q := words[rnd(len(words))]
			if rnd(2) == 0 {
				q += " " + words[rnd(len(words))]
			}
			if r := []rune(q); rnd(2) == 0 && len(r) > 2 {
				q = string(r[:len(r)-1])
			}
			want := 0
			for _, msgs := range s.msgs {
				for i := range msgs {
					if _, ok := parse(q).match(msgs[i].Text()); ok {
						want++
					}
				}
			}
			res, err := x.Find(t.Context(), Params{Query: q, Limit: MaxLimit})
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Results) != min(want, MaxLimit) || res.HasMore != (want > MaxLimit) {
				t.Fatalf("round %d, %q: %d hits, %v more, want %d", round, q, len(res.Results), res.HasMore, want)
			}
			if !slices.IsSortedFunc(res.Results, func(a, b protocol.SearchHit) int { return int(b.Timestamp - a.Timestamp) }) {
				t.Fatalf("%q: not the newest first", q)
			}
		}
	}
}

func TestSnippet(t *testing.T) {
	long := strings.Repeat("word ", 60)
	tests := []struct{ name, text, query, want string }{
		{"short", "The Café here", "cafe", "The [Café] here"},
		{"prefix is marked so far", "Ambulances", "ambul", "[Ambul]ances"},
		{"accent behind a prefix", "e\u0301te\u0301 long", "ete", "[e\u0301te\u0301] long"},
		{"lines", "one\n\n  two\tthree", "two", "one [two] three"},
		{"several", "a b a", "a b", "[a] [b] [a]"},
		{"dense", "これは東京タワーです", "東京", "これは[東京]タワーです"},
		{"beyond the basic plane", "🔥🔥 fire 🔥 fire", "fire", "🔥🔥 [fire] 🔥 [fire]"},
		{"side by side", "0京00 x", "0 京 00", "[0][京][00] x"},
		{"cut in front", long + "needle end", "needle", "…word word word word word word word [needle] end"},
		{"cut behind", "needle " + long, "needle", "[needle] " + strings.Repeat("word ", 30) + "wor…"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			spans, ok := parse(tc.query).match(tc.text)
			s, ranges := snippet(tc.text, spans)
			if got := marked(s, ranges); !ok || got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// marked puts brackets around the ranges.
func marked(s string, ranges [][2]int) string {
	u := utf16.Encode([]rune(s))
	var out []uint16
	at := 0
	for _, r := range ranges {
		out = append(out, u[at:r[0]]...)
		out = append(append(append(out, '['), u[r[0]:r[1]]...), ']')
		at = r[1]
	}
	return string(utf16.Decode(append(out, u[at:]...)))
}

func TestTerms(t *testing.T) {
	var got []string
	for tok := range tokens("Don't e\u0301 x1_y2 日本語 が ＡＢ naïve— 1,000 ไทย") {
		tok.addTerms(func(term []byte) { got = append(got, string(term)) })
	}
	want := strings.Split("don t e x1 y2 日本 本語 語 が ab naive 1 000 ไท ทย ย", " ")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Any text: what is a word in it is found in it, ranges are in order and
// inside the snippet, nothing panics.
func FuzzMatch(f *testing.F) {
	for _, s := range []string{"Hello, Wörld!", "東京 tower\x00\xff", "ßẞ e\u0301\u0301", "\u0301", "か\u3099が", "ﬀ İi", "\U0010ffff🔥", "0京00000",
		strings.Repeat("a", 60)} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		var terms int
		for tok := range tokens(text) {
			if tok.start >= tok.end || tok.end > len(text) {
				t.Fatalf("token %+v of %q", tok, text)
			}
			tok.addTerms(func(b []byte) {
				if len(b) == 0 || slices.Contains(b, 0) || b[0] < 2 {
					t.Fatalf("term %q of %q", b, text)
				}
				terms++
			})
		}
		q := text
		if r := []rune(text); len(r) > 0 {
			q = string(r[:uint(n)%uint(len(r))+1])
		}
		query := parse(q)
		spans, _ := query.match(text)
		s, ranges := snippet(text, spans)
		units, last := len(utf16.Encode([]rune(s))), 0
		for _, r := range ranges {
			if r[0] < last || r[1] <= r[0] || r[1] > units {
				t.Fatalf("ranges %v of %q (%d units)", ranges, s, units)
			}
			last = r[1]
		}
		if whole := parse(text); len(whole.words) > 0 {
			if _, ok := whole.match(text); !ok {
				t.Fatalf("%q does not find itself: %+v", text, whole)
			}
		}
	})
}

// What stands on a branch that is not in use is not found, whether the index knows
// it or not, and is found again when it is.
func TestOtherBranchesAreNotFound(t *testing.T) {
	s := newShelf()
	s.say("k", 1, protocol.MessageUser, "plant an apple tree")
	s.say("k", 1, protocol.MessageUser, "plant a cherry tree")
	x := newIndex(t, s)
	for _, indexed := range []bool{false, true} {
		if x.Touch("k"); indexed {
			if err := x.catchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for hidden, want := range map[int64]string{0: "1/1 1/2", 1: "1/2", 2: "1/1"} {
			s.hidden[idOf(1)] = map[int64]bool{hidden: true}
			got := strings.Fields(find(t, x, "tree", ""))
			slices.Sort(got)
			if strings.Join(got, " ") != want {
				t.Errorf("indexed %v, without %d: %q, want %q", indexed, hidden, got, want)
			}
		}
	}
}
