package store

import "time"

// moveStep is how often Moves looks while writes wait.
const moveStep = time.Second

// Moves returns when the store moves: it can be read, and of the writes that wait
// some were finished, or none waits. It is for whoever watches that.
func (db *DB) Moves() {
	_ = db.View(func(*Tx) error { return nil }) // an error is an answer too
	before := db.rounds.Load()
	for db.owed.Load() > 0 && db.rounds.Load() == before {
		<-time.After(moveStep)
	}
}
