package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

func adds(name string, additive bool) migration {
	return migration{what: name, additive: additive, run: func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte(name)) // fails when it is done twice
		return err
	}}
}

// A store goes from schema to schema with a copy of what it was before; a step that
// fails leaves it where it was, and the next start goes on from there.
func TestFault_F_CRASH_17_MigrationsAreWholeSteps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hearth.db")
	db, err := Open(path, Options{ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	fails := errors.New("no")
	broken := []migration{adds("two", false), {what: "three", run: func(tx *bbolt.Tx) error {
		if _, err := tx.CreateBucket([]byte("half")); err != nil {
			return err
		}
		return fails
	}}}
	if err := db.migrate(3, broken); !errors.Is(err, fails) {
		t.Fatal(err)
	}
	schema := func() (have, reader uint32, half bool) {
		_ = db.file.bolt.View(func(tx *bbolt.Tx) error {
			have, reader = schemaOf(tx.Bucket(metaBucket))
			half = tx.Bucket([]byte("half")) != nil
			return nil
		})
		return have, reader, half
	}
	if have, reader, half := schema(); have != 2 || reader != 2 || half {
		t.Fatalf("after a step that failed: schema %d, read by %d, half of the step: %v", have, reader, half)
	}
	if err := db.migrate(3, []migration{adds("two", false), adds("three", false)}); err != nil {
		t.Fatal(err)
	}
	if have, reader, _ := schema(); have != 3 || reader != 3 {
		t.Errorf("schema %d, read by %d", have, reader)
	}
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The copies are of before: this build reads the first, and none of the others.
	if err := Usable(BeforeSchema(path, 1)); err != nil {
		t.Error(err)
	}
	if err := Usable(BeforeSchema(path, 2)); !errors.Is(err, ErrNewer) {
		t.Error(err)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, ErrNewer) {
		t.Error(err)
	}
	if err := Restore(path, BeforeSchema(path, 1), path+".now"); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(path, Options{ReserveBytes: -1}); err != nil {
		t.Fatal(err)
	}
	_ = db.Close(t.Context())
}

// A schema that only adds something is used by the build before it too, one step
// back and not further than the steps allow.
func TestFault_F_UPG_03_OneVersionBackReadsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hearth.db")
	db, err := Open(path, Options{ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.migrate(2, []migration{adds("two", true)}); err != nil {
		t.Fatal(err)
	}
	_ = db.Close(t.Context())
	if err := Usable(path); err != nil {
		t.Error(err)
	}
	if db, err = Open(path, Options{ReserveBytes: -1}); err != nil {
		t.Fatal(err)
	}
	_ = db.Close(t.Context())
	for _, c := range []struct {
		steps        []migration
		schema, want uint32
	}{
		{nil, 1, 1}, {[]migration{adds("a", true), adds("b", false)}, 3, 3}, {[]migration{adds("a", false), adds("b", true)}, 3, 2},
		{[]migration{adds("a", true), adds("b", true)}, 3, 1},
	} {
		if got := readerOf(c.schema, c.steps); got != c.want {
			t.Errorf("schema %d is read by %d, want %d", c.schema, got, c.want)
		}
	}
}

// No room for the copy: nothing is changed, and it is said.
func TestFault_F_UPG_02_NoCopyNoMigration(t *testing.T) {
	dir := t.TempDir()
	db, err := Open(filepath.Join(dir, "hearth.db"), Options{ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(t.Context()) }()
	if err := os.Mkdir(BeforeSchema(db.path, 1), 0o700); err != nil { // a file cannot take its place
		t.Fatal(err)
	}
	if err := db.migrate(2, []migration{adds("two", false)}); err == nil {
		t.Fatal("changed without a copy")
	}
	_ = db.file.bolt.View(func(tx *bbolt.Tx) error {
		if have, _ := schemaOf(tx.Bucket(metaBucket)); have != 1 {
			t.Errorf("schema %d", have)
		}
		return nil
	})
}
