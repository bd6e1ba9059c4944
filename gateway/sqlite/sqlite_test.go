package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/sqlite"
)

// The files of testdata were made by SQLite itself: testdata/make.py.

func load(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func open(t testing.TB, name string) *sqlite.File {
	t.Helper()
	db, err := sqlite.Open(bytes.NewReader(load(t, name)), int64(len(load(t, name))), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestRowsAreWhatSQLiteWrote(t *testing.T) {
	db := open(t, "many.db")
	i := 0
	for r, err := range db.Rows(`it"s`) {
		if err != nil {
			t.Fatal(err)
		}
		check(t, r, i)
		again, err := db.Row(`IT"S`, r.ID)
		if err != nil || again == nil {
			t.Fatalf("row %d is not found by its number: %v", r.ID, err)
		}
		check(t, again, i)
		i++
	}
	if i != 150 {
		t.Errorf("%d rows", i)
	}
	for _, id := range []int64{-31, 1, 418, 1 << 40} {
		if r, err := db.Row(`it"s`, id); r != nil || err != nil {
			t.Errorf("row %d is found: %v %v", id, r, err)
		}
	}
}

func check(t *testing.T, r *sqlite.Row, i int) {
	t.Helper()
	blob := bytes.Repeat([]byte{byte(i % 256)}, i*7%900)
	x := int64(0)
	if i%5 == 0 {
		x = int64(i) << (i % 50)
	}
	if r.ID != int64(i*3-30) || r.Int("id") != r.ID || r.Text("NAME") != fmt.Sprintf("name %d", i) || r.Real("size") != float64(i)/4 ||
		!bytes.Equal(r.Blob("data"), blob) || r.Int("x") != x || r.Null("x") != (i%5 != 0) || r.Err() != nil {
		t.Errorf("row %d: %d %q %v %d bytes %d, %v", i, r.ID, r.Text("name"), r.Real("size"), len(r.Blob("data")), r.Int("x"), r.Err())
	}
}

func TestColumnsAreFoundByName(t *testing.T) {
	db := open(t, "many.db")
	var got []string
	for r, err := range db.Rows("plain") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s=%s,%v,%q", r.Text("a"), r.Text("b"), r.Null("later"), r.Text("nowhere")))
	}
	want := `[x=1,true,"" y=-1,true,"" ü世=9223372036854775807,true,""]`
	if fmt.Sprint(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	for r, err := range db.Rows("made") { // a column that is worked out takes no place in the row
		if err != nil || r.Int("a") != 4 || r.Text("b") != "four" {
			t.Errorf("%v %d %q", err, r.Int("a"), r.Text("b"))
		}
	}
	for _, err := range db.Rows("absent") {
		if !errors.Is(err, sqlite.ErrNoTable) {
			t.Error(err)
		}
	}
	for _, err := range db.Rows("keyed") { // a table of another build
		if !errors.Is(err, sqlite.ErrDamaged) {
			t.Error(err)
		}
	}
}

// What a log holds counts as far as it was committed, also where it is cut off.
func TestTheLogCounts(t *testing.T) {
	main, log := load(t, "logged.db"), load(t, "logged.db-wal")
	values := func(log []byte) (out []string) {
		t.Helper()
		db, err := sqlite.Open(bytes.NewReader(main), int64(len(main)), bytes.NewReader(log), int64(len(log)))
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range db.Rows("t") {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, r.Text("v"))
		}
		return out
	}
	if v := values(log); len(v) != 90 || v[7] != "changed" || v[89] != "after 89" {
		t.Errorf("with the log: %d rows, %q", len(v), v)
	}
	torn := bytes.Clone(log)
	torn[len(torn)-10] ^= 1
	for name, l := range map[string][]byte{"cut off": log[:len(log)-1], "torn": torn, "empty": {}, "another file": main} {
		if v := values(l); len(v) != 50 || v[7] != "before 7" {
			t.Errorf("%s: %d rows, %q", name, len(v), v)
		}
	}
}

// Every byte that is another one is read as something or refused, in bounds.
func TestSec_DamagedFilesAreRefusedInBounds(t *testing.T) {
	whole := load(t, "many.db")
	step := 47
	if testing.Short() {
		step = 311
	}
	for at := 0; at < len(whole); at += step {
		for _, v := range []byte{0x00, 0xff, whole[at] ^ 0x80} {
			b := bytes.Clone(whole)
			b[at] = v
			walk(b, nil)
		}
	}
}

// walk reads everything that can be read.
func walk(main, log []byte) {
	var wal *bytes.Reader
	db, err := sqlite.Open(bytes.NewReader(main), int64(len(main)), nil, 0)
	if log != nil {
		wal = bytes.NewReader(log)
		db, err = sqlite.Open(bytes.NewReader(main), int64(len(main)), wal, int64(len(log)))
	}
	if err != nil {
		return
	}
	for _, table := range []string{`it"s`, "plain", "made", "keyed", "t"} {
		n := 0
		for r, err := range db.Rows(table) {
			if err != nil || n > 5000 {
				break
			}
			n++
			for _, c := range db.Table(table).Columns {
				_, _, _, _ = r.Text(c), r.Int(c), r.Blob(c), r.Real(c)
			}
			_, _ = db.Row(table, r.ID)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add(load(f, "many.db"), []byte(nil))
	f.Add(load(f, "logged.db"), load(f, "logged.db-wal"))
	f.Fuzz(func(_ *testing.T, main, log []byte) { walk(main, log) })
}
