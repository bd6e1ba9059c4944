package session

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

// A guard and its act are one: while others begin the session anew, what was
// meant for the old transcript happens to that one or not at all.
func TestExpectedIsCheckedWithTheAct(t *testing.T) {
	b := newBench(t, work, nil, policy(Steer))
	defer b.close()
	for i := range 40 {
		key := fmt.Sprintf("agent:main:race%d", i)
		row, err := b.Create(t.Context(), key, "", "")
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		var deleted bool
		var del, reset error
		all.Go(func() { deleted, del = b.DeleteIf(t.Context(), key, false, Expected{SessionID: row.SessionID}) })
		all.Go(func() { _, reset = b.Reset(t.Context(), key) })
		all.Wait()
		now, there, err := b.Get(key)
		switch {
		case err != nil:
			t.Fatal(err)
		case deleted && (there || !errors.Is(reset, ErrNotFound)):
			t.Errorf("deleted, and there is %+v (%v)", now, reset)
		case !deleted && (!errors.Is(del, ErrChanged) || !there || now.SessionID == row.SessionID):
			t.Errorf("not deleted (%v), and there is %+v", del, now)
		}
	}
}
