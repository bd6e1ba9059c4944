package config

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestSec_A_DOS_14_StormOfReloads: a hundred edits in a row are one change or two,
// and the last one counts.
func TestSec_A_DOS_14_StormOfReloads(t *testing.T) {
	path := place(t, portText(1))
	w := watch(t, path, Options{Debounce: 500 * time.Millisecond, Poll: time.Hour})
	w.untilPort(1)
	applied := new(atomic.Int64)
	defer w.Subscribe(nil, func(Config, Config) { applied.Add(1) })()
	for port := range 100 {
		swap(t, path, portText(2+port))
	}
	w.untilPort(101)
	if n := applied.Load(); n > 2 {
		t.Errorf("a hundred edits were applied %d times", n)
	}
}
