package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hearth-assistant/hearth/internal/seed"
)

func skipWhereOpenFilesStay(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be replaced here; Compact says so")
	}
}

// everything is all of a store, as text: rows and the numbers of its tables.
func everything(t *testing.T, db *DB) map[string]string {
	t.Helper()
	all := map[string]string{}
	names, err := db.tables()
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *Tx) error {
		for _, name := range names {
			all[string(name)] = fmt.Sprint(tx.tx.Bucket(name).Sequence())
			for k, v := range (Table{name}).ScanRaw(tx, Range{}) {
				all[string(name)+"/"+string(k)] = string(v)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(all, string(metaBucket))
	for k := range all {
		if strings.HasPrefix(k, "meta/") {
			delete(all, k)
		}
	}
	return all
}

func differ(t *testing.T, when string, want, got map[string]string) {
	t.Helper()
	said := 0
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[k]; (!ok || g != want[k]) && said < 5 {
			said++
			t.Errorf("%s: %q is %.40q (there: %v), want %.40q", when, k, g, ok, want[k])
		}
	}
	if len(want) != len(got) {
		t.Errorf("%s: %d rows, want %d", when, len(got), len(want))
	}
}

// writer changes its own keys of some tables at random, and knows what is there.
type modelWriter struct {
	id   int
	pick func(n int) int
	rows map[string]string
	seqs map[string]int // how many numbers it took
}

func (m *modelWriter) write(ctx context.Context, db *DB) error {
	table := Table{[]byte(fmt.Sprintf("t%d", m.pick(4)))}
	key := fmt.Appendf(nil, "%d/%03d", m.id, m.pick(300))
	value := bytes.Repeat([]byte{byte('a' + m.pick(26))}, m.pick(1500))
	full := string(table.name) + "/" + string(key)
	switch what := m.pick(10); {
	case what < 5: // the pair of a row and its shadow is always there together
		err := db.Update(ctx, Write{Do: func(tx *Tx) error {
			return errors.Join(table.PutRaw(tx, key, value), Table{[]byte("shadow")}.PutRaw(tx, []byte(full), value))
		}})
		if err == nil {
			m.rows[full], m.rows["shadow/"+full] = string(value), string(value)
		}
		return err
	case what < 8:
		err := db.Update(ctx, Write{Do: func(tx *Tx) error {
			return errors.Join(table.Delete(tx, key), Table{[]byte("shadow")}.Delete(tx, []byte(full)))
		}})
		if err == nil {
			delete(m.rows, full)
			delete(m.rows, "shadow/"+full)
		}
		return err
	case what < 9:
		err := db.Update(ctx, Write{Do: func(tx *Tx) error { _, err := table.NextSeq(tx); return err }})
		if err == nil {
			m.seqs[string(table.name)]++
		}
		return err
	}
	bad := errors.New("taken back")
	err := db.Update(ctx, Write{Do: func(tx *Tx) error { return errors.Join(table.PutRaw(tx, key, []byte("never")), bad) }})
	if errors.Is(err, bad) {
		return nil
	}
	return err
}

// TestCompactingBesideWrites: writers write and delete, readers read, and the store is
// compacted again and again meanwhile. In the end, and after a restart, it says exactly
// what the model says; at each moment what one write changed is seen together.
func TestCompactingBesideWrites(t *testing.T) {
	skipWhereOpenFilesStay(t)
	rng := seed.New(t)
	path := filepath.Join(t.TempDir(), "h.db")
	db, err := Open(path, Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	over, stop := context.WithCancel(t.Context())
	defer stop()
	var writing, reading sync.WaitGroup
	models := make([]*modelWriter, 4)
	var choosing sync.Mutex
	pick := func(n int) int {
		choosing.Lock()
		defer choosing.Unlock()
		return rng.IntN(n)
	}
	for i := range models {
		m := &modelWriter{id: i, pick: pick, rows: map[string]string{}, seqs: map[string]int{}}
		models[i] = m
		writing.Go(func() {
			for over.Err() == nil {
				if err := m.write(t.Context(), db); err != nil {
					t.Errorf("writing: %v", err)
					return
				}
			}
		})
	}
	reading.Go(func() {
		for over.Err() == nil {
			if err := db.View(wholePairs); err != nil {
				t.Errorf("reading: %v", err)
				return
			}
			if err := db.Problem(); err != nil {
				t.Errorf("a problem: %v", err)
				return
			}
		}
	})
	for round := range seed.Rounds(15, 400) {
		told := int64(0)
		if _, _, err := db.Compact(t.Context(), func(n int64) { told = max(told, n) }); err != nil {
			t.Fatalf("compaction %d: %v", round, err)
		}
		if round > 0 && told == 0 {
			t.Error("nothing was told of how far it is")
		}
	}
	stop()
	writing.Wait()
	reading.Wait()
	want := map[string]string{}
	seqs := map[string]int{"t0": 0, "t1": 0, "t2": 0, "t3": 0, "shadow": 0}
	for _, m := range models {
		maps.Copy(want, m.rows)
		for k, n := range m.seqs {
			seqs[k] += n
		}
	}
	got := everything(t, db)
	for k, n := range seqs {
		if _, there := got[k]; there {
			want[k] = fmt.Sprint(n)
		}
	}
	differ(t, "at the end", want, got)
	if _, _, err := db.Compact(t.Context(), func(int64) {}); err != nil {
		t.Error(err)
	}
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := Check(path); err != nil {
		t.Error(err)
	}
	differ(t, "after a restart", want, everything(t, open(t, path)))
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.compacting")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// wholePairs: each row has its shadow, of the same content.
func wholePairs(tx *Tx) error {
	n := 0
	for _, name := range []string{"t0", "t1", "t2", "t3"} {
		for k, v := range (Table{[]byte(name)}).ScanRaw(tx, Range{}) {
			if n++; !bytes.Equal(Table{[]byte("shadow")}.GetRaw(tx, []byte(name+"/"+string(k))), v) {
				return fmt.Errorf("%s/%s and its shadow differ", name, k)
			}
		}
	}
	if have := (Table{[]byte("shadow")}).Count(tx); have != n {
		return fmt.Errorf("%d rows and %d shadows", n, have)
	}
	return nil
}

// grown is a store of which much is not in use: rows of a kilobyte, every tenth is left.
func grown(t testing.TB, path string, rows int) *DB {
	t.Helper()
	db, err := Open(path, Options{ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.WithoutCancel(t.Context())) })
	for from := 0; from < rows; from += 5000 {
		err = errors.Join(err, db.Update(t.Context(), Write{Do: func(tx *Tx) error {
			for i := from; i < min(from+5000, rows); i++ {
				if err := sorts.Put(tx, Uint64Key(uint64(i)), strings.Repeat(string(rune('a'+i%26)), 1000)); err != nil {
					return err
				}
			}
			return nil
		}}))
	}
	for from := 0; from < rows; from += 5000 {
		err = errors.Join(err, db.Update(t.Context(), Write{Do: func(tx *Tx) error {
			for i := from; i < min(from+5000, rows); i++ {
				if i%10 != 0 {
					if err := sorts.Delete(tx, Uint64Key(uint64(i))); err != nil {
						return err
					}
				}
			}
			return nil
		}}))
	}
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// TestCompactGivesBack: what is not in use goes, what is in use stays, another process
// is kept away before, meanwhile and after, and who reads the old file reads it to the
// end.
func TestCompactGivesBack(t *testing.T) {
	skipWhereOpenFilesStay(t)
	real := filepath.Join(t.TempDir(), "real.db")
	path := filepath.Join(t.TempDir(), "h.db")
	if err := os.Symlink(real, path); err != nil {
		t.Fatal(err)
	}
	db := grown(t, path, 8000)
	want := everything(t, db)
	was, err := os.Stat(real)
	if err != nil {
		t.Fatal(err)
	}
	reading, goOn, read := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var backup bytes.Buffer
	go func() {
		read <- db.Snapshot(func(_ int64, write func(io.Writer) error) error {
			close(reading)
			<-goOn
			return write(&backup)
		})
	}()
	<-reading
	tried := 0
	type end struct {
		before, after int64
		err           error
	}
	ended := make(chan end, 1)
	go func() {
		before, after, err := db.Compact(t.Context(), func(int64) {
			if tried++; tried < 3 && !InUse(path) {
				t.Error("another process could open it")
			}
			if _, _, err := db.Compact(t.Context(), func(int64) {}); !errors.Is(err, ErrBusy) {
				t.Errorf("two at once: %v", err)
			}
		})
		ended <- end{before, after, err}
	}()
	// The new file is in use while somebody still reads the old one.
	write := func(key string) {
		t.Helper()
		if err := db.Update(t.Context(), Write{Do: func(tx *Tx) error { return sorts.Put(tx, []byte(key), "x") }}); err != nil {
			t.Fatal(err)
		}
	}
	for write("beside"); !replaced(t, real, was); {
		write("beside")
	}
	write("after")
	if _, err := Open(path, Options{ReserveBytes: -1}); !errors.Is(err, ErrLocked) {
		t.Errorf("another process: %v", err)
	}
	close(goOn)
	if err := <-read; err != nil {
		t.Errorf("the one who reads for long: %v", err)
	}
	e := <-ended
	if e.err != nil || e.after > e.before/4 {
		t.Fatalf("it had %d and has %d: %v", e.before, e.after, e.err)
	}
	want["sorts/beside"], want["sorts/after"] = `"x"`, `"x"`
	differ(t, "compacted", want, everything(t, db))
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(copied, backup.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := Check(copied); err != nil || n < 800 {
		t.Errorf("the copy of before has %d records: %v", n, err)
	}
	if st, err := os.Lstat(path); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link at the path became a file: %v", err)
	}
	if db.Problem() != nil || !InUse(path) {
		t.Errorf("afterwards: %v", db.Problem())
	}
}

// replaced: another file than before is at the path.
func replaced(t *testing.T, path string, was os.FileInfo) bool {
	t.Helper()
	now, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return !os.SameFile(was, now)
}
