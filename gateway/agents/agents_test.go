package agents_test

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/agents"
)

func TestRouteMostSpecificWins(t *testing.T) {
	b := agents.New([]agents.Agent{{ID: "home", Default: true}, {ID: "work"}, {ID: "kids"}, {ID: "club"}}, []agents.Binding{
		{Agent: "work", Channel: "telegram", Account: "*"},
		{Agent: "club", Channel: "telegram", Account: "*", PeerKind: "group", PeerID: "-7"},
		{Agent: "kids", Channel: "telegram", Account: "family"},
		{Agent: "home", Channel: "telegram", Account: "*", PeerKind: "direct", PeerID: "42"},
		{Agent: "work", Channel: "telegram", Account: "family", PeerKind: "direct", PeerID: "42"},
		{Agent: "club", Channel: "signal"},
		{Agent: "kids", Channel: "telegram", Account: "*", PeerKind: "group", PeerID: "-7:topic:3"},
		{Agent: "kids", Channel: "telegram", Account: "*", PeerKind: "channel", PeerID: "*"},
	}, agents.Agent{})
	for _, c := range []struct {
		src     agents.Source
		want    string
		binding int
	}{
		{agents.Source{"telegram", "default", "direct", "1", ""}, "work", 0},
		{agents.Source{"telegram", "other", "group", "1", ""}, "work", 0},
		{agents.Source{"telegram", "default", "group", "-7", ""}, "club", 1},
		{agents.Source{"telegram", "default", "direct", "-7", ""}, "work", 0}, // the same id, another kind
		{agents.Source{"telegram", "family", "direct", "1", ""}, "kids", 2},
		{agents.Source{"telegram", "family", "group", "-7", ""}, "club", 1},
		{agents.Source{"telegram", "default", "direct", "42", ""}, "home", 3},
		{agents.Source{"telegram", "family", "direct", "42", ""}, "work", 4},
		{agents.Source{"signal", "", "direct", "1", ""}, "club", 5},
		{agents.Source{"signal", "default", "direct", "1", ""}, "club", 5},
		{agents.Source{"signal", "second", "direct", "1", ""}, "home", -1}, // no account named: the default one
		{agents.Source{"telegram", "default", "group", "-7", "3"}, "kids", 6},
		{agents.Source{"telegram", "default", "group", "-7", "4"}, "club", 1},
		{agents.Source{"telegram", "default", "channel", "-7", ""}, "kids", 7},
		{agents.Source{"webchat", "", "direct", "", ""}, "home", -1},
	} {
		if got, by := b.Route(c.src); got != c.want || by != c.binding {
			t.Errorf("%+v → %s by %d, want %s by %d", c.src, got, by, c.want, c.binding)
		}
	}
}

func TestThereIsAlwaysAMainAgent(t *testing.T) {
	for _, c := range []struct {
		list     []agents.Agent
		standard string
		size     int
	}{
		{nil, "main", 1},
		{[]agents.Agent{{ID: "work"}}, "work", 2},
		{[]agents.Agent{{ID: "main"}, {ID: "work"}}, "main", 2},
		{[]agents.Agent{{ID: "main"}, {ID: "work", Default: true}}, "work", 2},
	} {
		b := agents.New(c.list, nil, agents.Agent{Name: "M", Default: true})
		if got := b.Default().ID; got != c.standard || len(b.All()) != c.size {
			t.Errorf("%+v: default %s of %+v", c.list, got, b.All())
		}
		if m, ok := b.Get("main"); !ok || c.size > len(c.list) && m.Name != "M" {
			t.Errorf("%+v: main is %+v", c.list, m)
		}
		if _, ok := b.Get("nobody"); ok {
			t.Error("nobody is there")
		}
	}
}
