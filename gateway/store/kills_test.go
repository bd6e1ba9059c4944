package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/hearth-assistant/hearth/internal/seed"
)

// migrated names the store that a process of this test migrates until it is killed.
const migrated = "HEARTH_MIGRATE_CHILD"

// steps are three of a version to come, each of some work.
func steps() (out []migration) {
	for _, name := range []string{"two", "three", "four"} {
		out = append(out, migration{what: name, run: func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucket([]byte(name)) // fails when it is done twice
			for i := 0; err == nil && i < 3000; i++ {
				err = b.Put(fmt.Appendf(nil, "%s-%05d", name, i), make([]byte, 64))
			}
			return err
		}})
	}
	return out
}

// TestMigrateChild is what the processes of the test below do.
func TestMigrateChild(t *testing.T) {
	path := os.Getenv(migrated)
	if path == "" {
		t.Skip("it is a part of TestFault_F_OPS_MigrationKilled")
	}
	db, err := Open(path, Options{ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.migrate(4, steps()), db.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// TestFault_F_OPS_MigrationKilled kills a store's change to a later schema at random
// moments: it opens, has every record, and is of one schema whole; the next start
// goes on to the last.
func TestFault_F_OPS_MigrationKilled(t *testing.T) {
	r := seed.New(t)
	want, kills, usual := seed.Rounds(6, 100), 0, time.Duration(0)
	found := map[uint32]int{}
	dir := t.TempDir()
	run := func(path string, kill bool) bool {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMigrateChild$")
		cmd.Env = append(os.Environ(), migrated+"="+path)
		began := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if kill {
			timer := time.AfterFunc(time.Duration(r.Int64N(int64(cmp.Or(usual, 100*time.Millisecond)*11/10))), func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
		}
		err := cmd.Wait()
		var ended *exec.ExitError
		if err != nil && !(kill && errors.As(err, &ended) && ended.ExitCode() == -1) {
			t.Fatal(err)
		}
		if err == nil {
			usual = time.Since(began)
		}
		return err != nil
	}
	for round := 0; kills < want; round++ {
		path := filepath.Join(dir, fmt.Sprintf("%d.db", round))
		db, err := Open(path, Options{ReserveBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.file.bolt.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucket([]byte("accepted"))
			return cmp.Or(err, func() error { return b.Put([]byte("a"), []byte("b")) }())
		}); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if run(path, round > 0) {
			kills++
		}
		look := func() (have uint32) {
			b, err := openBolt(path, &bbolt.Options{Timeout: time.Second, ReadOnly: true})
			if err != nil {
				t.Fatalf("round %d: it does not open: %v", round, err)
			}
			defer func() { _ = b.Close() }()
			_ = b.View(func(tx *bbolt.Tx) error {
				have, _ = schemaOf(tx.Bucket(metaBucket))
				if string(tx.Bucket([]byte("accepted")).Get([]byte("a"))) != "b" {
					t.Errorf("round %d: what was accepted is gone", round)
				}
				for i, s := range steps() {
					if b := tx.Bucket([]byte(s.what)); (b != nil) != (have >= uint32(i+2)) || b != nil && b.Stats().KeyN != 3000 {
						t.Errorf("round %d: schema %d, and the step %q is half", round, have, s.what)
					}
				}
				return nil
			})
			return have
		}
		have := look()
		found[have]++
		if have > 1 {
			if _, err := Check(BeforeSchema(path, 1)); err != nil {
				t.Errorf("round %d: the copy of before: %v", round, err)
			}
		}
		// Cut short between two steps, the store says which it is; the newer build goes on.
		b, err := openBolt(path, &bbolt.Options{Timeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		rest := &DB{file: &handle{bolt: b}, path: path}
		if err := errors.Join(rest.migrate(4, steps()), b.Close()); err != nil {
			t.Fatalf("round %d: going on: %v", round, err)
		}
		if have := look(); have != 4 {
			t.Errorf("round %d: then it is of schema %d", round, have)
		}
		_ = os.Remove(path)
	}
	t.Logf("%d kills; the schema then: %v", kills, found)
}
