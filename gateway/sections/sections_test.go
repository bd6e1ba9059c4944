package sections_test

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/sections"
)

// TestEveryKeySaysWhatItIs: no key has two owners, and each has a help text, or
// what is above it has.
func TestEveryKeySaysWhatItIs(t *testing.T) {
	for _, fault := range sections.All().Faults() {
		t.Error(fault)
	}
}
