package gateway

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Every method stands in our lists once, and in the table that says who may
// call it.
func TestMethodsStandInTheListOnce(t *testing.T) {
	known, seen := map[string]bool{}, map[string]bool{}
	for _, m := range protocol.Methods() {
		known[m.Name] = true
	}
	for _, m := range (&Gateway{}).methods() {
		switch {
		case seen[m.Name]:
			t.Errorf("%s stands in the lists twice", m.Name)
		case !known[m.Name]:
			t.Errorf("%s is not in protocol.Methods", m.Name)
		}
		seen[m.Name] = true
	}
}
