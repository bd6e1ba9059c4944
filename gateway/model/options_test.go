package model

import "testing"

func TestOffer(t *testing.T) {
	tools := []ToolSpec{{Name: "own"}, {Name: "look"}, {Name: "go"}}
	for _, c := range []struct {
		name  string
		o     *Options
		exact bool
		want  string
		call  int
	}{
		{"nothing asked", nil, false, "own look go ", 0},
		{"one of the program's", &Options{Call: []string{"look", "go"}}, false, "look go ", 2},
		{"none of the program's", &Options{Hide: []string{"look", "go"}}, false, "own ", 0},
		{"code mode", &Options{Call: []string{"look"}}, true, "own look go ", 0},
		{"one that is not offered", &Options{Call: []string{"gone"}}, false, "own look go ", 0},
	} {
		got, o := c.o.Offer(tools, c.exact)
		names, call := "", 0
		for _, g := range got {
			names += g.Name + " "
		}
		if o != nil {
			call = len(o.Call)
		}
		if names != c.want || call != c.call {
			t.Errorf("%s: %q %d", c.name, names, call)
		}
	}
}
