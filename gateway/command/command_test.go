package command

import "testing"

// known is a set with a few of the commands of Hearth.
func known() *Set {
	return NewSet(Command{Spec: Spec{Name: "think"}}, Command{Spec: Spec{Name: "model"}}, Command{Spec: Spec{Name: "new"}},
		Command{Spec: Spec{Name: "status"}}, Command{Spec: Spec{Name: "help", Aliases: []string{"commands"}}})
}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		text, name, args string
		ok               bool
	}{
		{"/status", "status", "", true},
		{"  /STATUS  ", "status", "", true},
		{"/model ollama/llama3.2", "model", "ollama/llama3.2", true},
		{"/think:high", "think", "high", true},
		{"/status@hearthbot", "status", "", true},
		{"/new\nhello there", "new", "hello there", true},
		{"/commands", "help", "", true},
		{"/etc/hosts is odd", "", "", false},
		{"/unknown", "", "", false},
		{"say /status", "", "", false},
		{"/", "", "", false},
		{"", "", "", false},
	} {
		inv, ok := known().Parse(tc.text)
		if ok != tc.ok || inv.Name != tc.name || inv.Args != tc.args {
			t.Errorf("Parse(%q) = %+v, %v", tc.text, inv, ok)
		}
	}
}

func TestIsStop(t *testing.T) {
	for text, want := range map[string]bool{"stop": true, "Stop!": true, " please stop. ": true, "stop the car": false, "": false,
		"wait": true, "wait for me": false} {
		if IsStop(text) != want {
			t.Errorf("IsStop(%q) = %v", text, !want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("/new x")
	f.Add("/think:high")
	f.Fuzz(func(t *testing.T, s string) {
		if inv, ok := known().Parse(s); ok && inv.Name == "" {
			t.Errorf("%q parsed to nothing", s)
		}
	})
}
