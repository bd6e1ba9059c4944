package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// A reader that lasts keeps nobody from writing, and what the file grew by
// meanwhile is used again afterwards: there is no log beside it that a start would
// have to read.
func TestFault_F_DB_04_ALongReader(t *testing.T) {
	path := t.TempDir() + "/h.db"
	open := func() *DB {
		db, err := Open(path, Options{ReserveBytes: -1, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := open()
	rows := NewBucket[string]("rows")
	write := func(n int) {
		t.Helper()
		err := db.Update(t.Context(), Write{Do: func(tx *Tx) error {
			return rows.Put(tx, Uint64Key(uint64(n%50)), fmt.Sprint(n)+strings.Repeat("x", 20_000))
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	const many = 300
	for n := range many {
		write(n)
	}
	settled := db.Size()
	reading, let := make(chan struct{}), make(chan struct{})
	read := make(chan error, 1)
	go func() {
		read <- db.View(func(tx *Tx) error {
			close(reading)
			<-let
			v, _, err := rows.Get(tx, Uint64Key(7))
			if want := fmt.Sprint(many - 50 + 7); err == nil && !strings.HasPrefix(v, want) {
				return fmt.Errorf("the reader sees %.10s, want %s", v, want)
			}
			return err
		})
	}()
	<-reading
	for n := range many { // none of them waits for the reader
		write(many + n)
	}
	close(let)
	if err := <-read; err != nil {
		t.Error(err)
	}
	write(0) // frees what the reader held
	held := db.Size()
	for n := range many {
		write(n)
	}
	if now := db.Size(); now > held+settled {
		t.Errorf("%d bytes before the reader, %d after it, %d after as many writes again: nothing is used again", settled, held, now)
	}
	if err := db.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	db = open()
	write(1)
	if err := db.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
}
