package usage

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/spend"
)

// A price that nobody knows is never shown as nothing.
func TestCostWords(t *testing.T) {
	for want, s := range map[string]spend.Sum{
		"0.00 USD":                    {Calls: 3},
		"1.50 USD":                    {InputCost: spend.FromUnits(1), OutputCost: spend.FromUnits(0.5)},
		"an amount that is not known": {Calls: 2, Unpriced: 2},
		"1.00 USD and what 2 calls of unknown price cost": {InputCost: spend.FromUnits(1), Unpriced: 2},
	} {
		if got := costWords(s, "USD"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
