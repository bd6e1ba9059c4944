package hooks

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/webhook"
)

// What the settings say of mappings that are never reached is what calls find: all lists of
// three, under all calls that could tell them apart.
func TestMappingsThatAreNeverReached(t *testing.T) {
	var kinds []Mapping
	for _, path := range []string{"", "a", "b", kindWake} {
		for _, source := range []string{"", "s"} {
			m := Mapping{Match: Match{Path: path, Source: source}, Action: kindAgent, MessageTemplate: "x"}
			kinds = append(kinds, m)
			if path != "" {
				m.Signature = Signature{Kind: webhook.GitHub}
				kinds = append(kinds, m)
			}
		}
	}
	for _, first := range kinds {
		for _, second := range kinds {
			for _, third := range kinds {
				list := []Mapping{first, second, third}
				for i := range list {
					list[i].PerMinute = i + 1 // by which a plan is known
				}
				if said, want := saidInVain(t, list), foundInVain(list); said != want {
					t.Fatalf("%+v: %v are said to be never reached, and %v are", list, said, want)
				}
			}
		}
	}
}

func saidInVain(t *testing.T, list []Mapping) (out [3]bool) {
	for i, m := range list {
		var told config.Notice
		switch err := inVain(list[:i], m); {
		case err == nil:
		case !errors.As(err, &told):
			t.Fatal(err)
		default:
			named := regexp.MustCompile(`reached: (hooks\.mappings.*); give`).FindStringSubmatch(string(told))
			if named == nil || strings.HasPrefix(string(told), "this mapping") {
				out[i] = true
				continue
			}
			for j := range list[:i] {
				out[j] = out[j] || strings.Contains(named[1], fmt.Sprintf("[%d]", j))
			}
		}
	}
	return out
}

func foundInVain(list []Mapping) [3]bool {
	out := [3]bool{true, true, true}
	h := Configured{Mappings: list}
	for _, name := range []string{"a", "b", "c"} {
		for _, source := range []string{"", "s", "other"} {
			in := incoming{name: name, by: "token"}
			if i, sig := signatureOf(h, name); sig.given() {
				in.by, in.event = secretPath(i), fmt.Sprint("event of ", name)
			}
			if p, err := mapped(h, in, map[string]any{"source": source}); err == nil {
				out[p.perMinute-1] = false
			}
		}
	}
	return out
}
