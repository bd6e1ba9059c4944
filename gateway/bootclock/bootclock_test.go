package bootclock_test

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/bootclock"
)

// It goes forward only.
func TestForward(t *testing.T) {
	a, ok := bootclock.Now()
	b, again := bootclock.Now()
	if ok != again || b < a || ok && a <= 0 {
		t.Errorf("%v %v, then %v %v", a, ok, b, again)
	}
}
