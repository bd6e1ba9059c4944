package titles

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/spend"
)

func TestClean(t *testing.T) {
	for _, tc := range []struct{ said, want string }{
		{"Apple Tree Pruning", "Apple Tree Pruning"},
		{"  **\"Apple Tree Pruning.\"**\n\nI hope that helps!", "Apple Tree Pruning"},
		{"Title: Apple  Tree", "Apple Tree"},
		{"<think>hm,\nwell</think>\nApfelbaum schneiden", "Apfelbaum schneiden"},
		{"「苹果树修剪」", "苹果树修剪"},
		{"Tree\u202e\u0007 Care", "Tree Care"},
		{"Meeting at 10:30", "Meeting at 10:30"},
		{"", ""}, {"\"\"", ""},
		{"Sure, here is a title that says what this conversation is about", ""},
	} {
		if got, ok := clean(tc.said); got != tc.want || ok != (tc.want != "") {
			t.Errorf("%q became %q, %v, want %q", tc.said, got, ok, tc.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("Title: \"a\"")
	f.Fuzz(func(t *testing.T, said string) {
		got, ok := clean(said)
		if ok == (got == "") || len([]rune(got)) > maxTitle {
			t.Errorf("%q became %q, %v", said, got, ok)
		}
	})
}

type models []provider.Entry

func (m models) Models() []provider.Entry { return m }

// but is the one model that the settings do not allow.
type but model.Ref

func (b but) Allowed(ref model.Ref) bool { return ref != model.Ref(b) }

// A title is made by the cheapest model of the service that has the words already,
// never by one whose key was only found, and by no embedding.
func TestSec_TitlesStayWithTheServiceThatAnswered(t *testing.T) {
	ref := func(p, m string) model.Ref { return model.Ref{Provider: p, Model: m} }
	on := func(p, m string) provider.Entry { return provider.Entry{Ref: ref(p, m), Available: true, Chosen: true} }
	found := on("b", "mini")
	found.Chosen = false
	away := on("a", "nano")
	away.Available = false
	prices := map[model.Ref]spend.List{
		ref("a", "big"): {Input: 5, Output: 20}, ref("a", "mini"): {Input: 1, Output: 2}, ref("a", "nano"): {Input: 0.1, Output: 0.2},
		ref("a", "text-embedding"): {Input: 0.01}, ref("b", "mini"): {Input: 0.1, Output: 0.1}, ref("free", "x"): {}, ref("free", "y"): {},
	}
	f := &feature{o: Options{
		Models: models{on("a", "big"), on("a", "mini"), away, on("a", "text-embedding"), found, on("free", "x"), on("free", "y"),
			on("unpriced", "u"), on("unpriced", "v")},
		Choice: but(ref("free", "x")),
		Price: func(r model.Ref) (spend.Price, bool) {
			p, ok := prices[r]
			return p.Price(), ok
		},
	}}
	for by, want := range map[model.Ref]model.Ref{
		ref("a", "big"): ref("a", "mini"), ref("b", "mini"): {}, ref("free", "y"): ref("free", "y"), ref("unpriced", "v"): ref("unpriced", "v"),
		ref("gone", "z"): {},
	} {
		if got, ok := f.cheapest(by); got != want || ok != (want != model.Ref{}) {
			t.Errorf("after %s: %s, %v, want %s", by, got, ok, want)
		}
	}
}
