package store

import (
	"testing"
	"testing/synctest"
	"time"
)

// A writer that stands still is seen by whoever watches it, and so is one that
// moves.
func TestFault_F_CRASH_23_AWriterThatStandsStillIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := Open(t.TempDir()+"/h.db", Options{ReserveBytes: -1, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		db.Moves() // nothing waits
		hold, done, moves := make(chan struct{}), make(chan error, 1), make(chan struct{})
		go func() {
			done <- db.Update(t.Context(), Write{Do: func(*Tx) error { <-hold; return nil }})
		}()
		synctest.Wait()
		go func() { db.Moves(); close(moves) }()
		<-time.After(time.Hour)
		select {
		case <-moves:
			t.Error("a writer that stands still counts as one that moves")
		default:
		}
		close(hold)
		if err := <-done; err != nil {
			t.Error(err)
		}
		<-moves
		if err := db.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
