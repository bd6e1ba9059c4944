package channel

import "testing"

// Of settings that say so one is needed, whichever it is.
func TestOneOf(t *testing.T) {
	k := Kind{ID: "n", Connects: "server", Settings: []Setting{{Key: "server", Form: Words}, {Key: "password", Form: SecretText, OneOf: true},
		{Key: "token", Form: SecretText, OneOf: true}}}
	for _, c := range []struct {
		typed map[string]string
		wrong string
	}{
		{map[string]string{"server": "s"}, "one of these is needed: password, token"},
		{map[string]string{"server": "s", "password": " "}, "one of these is needed: password, token"},
		{map[string]string{"server": "s", "password": "p"}, ""},
		{map[string]string{"server": "s", "token": "t"}, ""},
	} {
		a := k.Answers(c.typed)
		if a.Wrong["password"] != c.wrong || (len(a.Wrong) == 0) != (c.wrong == "") {
			t.Errorf("%v: %v", c.typed, a.Wrong)
		}
	}
	if why := (Kind{}).Lacks(nil); why != "" {
		t.Errorf("where none says so: %q", why)
	}
}
