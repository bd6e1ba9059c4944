package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hearth-assistant/hearth/internal/seed"
)

// diskOp is something that a process did to a file, or an acknowledgement.
type diskOp struct {
	file   string // which
	write  []byte
	at     int64
	size   int64 // of a truncate; -1: none
	flush  bool
	rename bool // besides(path) took the place of path
	ack    int  // 0: none
}

const powerChild = "HEARTH_TEST_POWER_LOSS"

// TestFault_F_CRASH_20_PowerLoss: what a store did to its disk is recorded, and the
// power fails at each of these moments. What was not flushed by then is lost,
// kept, torn or kept in another order; what was acknowledged is always there, and
// the store opens.
func TestFault_F_CRASH_20_PowerLoss(t *testing.T) {
	if path := os.Getenv(powerChild); path != "" {
		fillAndAcknowledge(t, path)
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed: nothing can be said of power loss here")
	}
	path := filepath.Join(t.TempDir(), "h.db")
	ops := traced(t, strace, path, powerChild)
	rng := seed.Fixed(t, 20)
	var disk []byte // what is safe
	var open []diskOp
	acked, flushes, failures := 0, 0, 0
	for i, op := range ops {
		switch {
		case op.ack > 0:
			acked = op.ack
		case op.file != path:
		case op.flush:
			for _, o := range open {
				disk = o.on(disk)
			}
			open, flushes = nil, flushes+1
		default:
			open = append(open, op)
		}
		if acked == 0 {
			continue
		}
		if err := comesBack(t, lose(rng, disk, open), acked); err != nil {
			if failures++; failures < 4 {
				t.Errorf("after step %d of %d, %d acknowledged: %v", i, len(ops), acked, err)
			}
		}
	}
	if acked != powerWrites || flushes < powerWrites {
		t.Errorf("%d of %d acknowledged with %d flushes in %d steps; has strace's notation changed?", acked, powerWrites, flushes, len(ops))
	}
}

const powerWrites = 20

var powerRows = NewBucket[string]("rows")

func powerValue(n int) string { return strings.Repeat(fmt.Sprint(n, " "), 50+n*n%700) }

// fillAndAcknowledge is the process that loses its power.
func fillAndAcknowledge(t *testing.T, path string) {
	db, err := Open(path, Options{ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= powerWrites; n++ {
		writeAndAcknowledge(t, db, n)
	}
	if err := db.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func writeAndAcknowledge(t *testing.T, db *DB, n int) {
	if err := db.Update(t.Context(),
		Write{Do: func(tx *Tx) error { return powerRows.Put(tx, Uint64Key(uint64(n)), powerValue(n)) }}); err != nil {
		t.Fatal(err)
	}
	_, _ = syscall.Write(1, fmt.Appendf(nil, "acknowledged %d\n", n))
}

// lose is the disk after a loss of power: of what was not flushed each write is
// there, is not, or is there in part, in any order.
func lose(rng *rand.Rand, disk []byte, open []diskOp) []byte {
	disk = bytes.Clone(disk)
	how := rng.IntN(4) // 0: nothing is there, 1: all of it
	for _, j := range rng.Perm(len(open)) {
		o := open[j]
		switch {
		case how == 0, how > 1 && rng.IntN(2) == 0:
			continue
		case how > 1 && len(o.write) > 512 && rng.IntN(3) == 0:
			o.write = o.write[:512*(1+rng.IntN(len(o.write)/512))]
		}
		disk = o.on(disk)
	}
	return disk
}

func (o diskOp) on(disk []byte) []byte {
	if o.size >= 0 {
		if int64(len(disk)) > o.size {
			return disk[:o.size]
		}
		return append(disk, make([]byte, o.size-int64(len(disk)))...)
	}
	if end := o.at + int64(len(o.write)); end > int64(len(disk)) {
		disk = append(disk, make([]byte, end-int64(len(disk)))...)
	}
	copy(disk[o.at:], o.write)
	return disk
}

func comesBack(t *testing.T, disk []byte, acked int) error {
	path := filepath.Join(t.TempDir(), "h.db")
	if err := os.WriteFile(path, disk, 0o600); err != nil {
		return err
	}
	return hasAll(t, path, acked)
}

// hasAll opens the store and looks for all that was acknowledged.
func hasAll(t *testing.T, path string, acked int) error {
	db, err := Open(path, Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
	return db.View(func(tx *Tx) error {
		for n := 1; n <= acked; n++ {
			if v, ok, err := powerRows.Get(tx, Uint64Key(uint64(n))); err != nil || !ok || v != powerValue(n) {
				return fmt.Errorf("write %d is lost: %v, %v", n, ok, err)
			}
		}
		return nil
	})
}

var (
	straceLine = regexp.MustCompile(`^(\d+) +(.*)$`)
	straceCall = regexp.MustCompile(`^(\w+)\(\d+(?:<([^>]*)>)?(?:, (.*))?\) += (-?\d+)`)
	straceName = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})+)"`)
	straceData = regexp.MustCompile(`^"((?:\\x[0-9a-f]{2})*)", (\d+)(?:, (\d+))?$`)
)

// traced runs the test anew as a process that fills the store at path, which the
// variable child tells it, and returns what it did.
func traced(t *testing.T, strace, path, child string) (ops []diskOp) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "trace")
	cmd := exec.CommandContext(t.Context(), strace, "-f", "-y", "-xx", "-s", "4194304", "-o", out,
		"-e", "trace=pwrite64,fdatasync,fsync,ftruncate,write,rename,renameat,renameat2", os.Args[0],
		"-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), child+"="+path)
	if said, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(said), "ptrace") {
			t.Skipf("programs cannot be traced here: %s", said)
		}
		t.Fatalf("%v: %s", err, said)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	begun := map[string]string{} // by thread: a call that another one was shown in front of the end of
	for line := range strings.Lines(string(raw)) {
		m := straceLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		text := m[2]
		if head, ok := strings.CutSuffix(text, "<unfinished ...>"); ok {
			begun[m[1]] = strings.TrimSpace(head)
			continue
		}
		if _, tail, ok := strings.Cut(text, " resumed>"); ok && strings.HasPrefix(text, "<...") {
			text = begun[m[1]] + tail
		}
		if op, ok := parseOp(t, text, path); ok {
			ops = append(ops, op)
		}
	}
	return ops
}

func parseOp(t *testing.T, text, path string) (op diskOp, ok bool) {
	t.Helper()
	op.size = -1
	if strings.HasPrefix(text, "rename") {
		names := straceName.FindAllStringSubmatch(text, -1)
		op.rename = len(names) == 2 && unhex(names[0][1]) == besides(path) && unhex(names[1][1]) == path && strings.HasSuffix(text, " = 0")
		return op, op.rename
	}
	m := straceCall.FindStringSubmatch(text)
	if m == nil {
		return op, false
	}
	op.file = unhex(m[2])
	data := straceData.FindStringSubmatch(m[3])
	switch {
	case m[1] == "write" && data != nil && strings.HasPrefix(unhex(data[1]), "acknowledged "):
		op.ack, _ = strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(unhex(data[1]), "acknowledged ")))
		return op, true
	case op.file != path && op.file != besides(path) && op.file != filepath.Dir(path):
		return op, false
	case m[1] == "pwrite64" && data != nil:
		op.write = []byte(unhex(data[1]))
		op.at, _ = strconv.ParseInt(data[3], 10, 64)
		return op, true
	case m[1] == "ftruncate":
		op.size, _ = strconv.ParseInt(m[3], 10, 64)
		return op, true
	case m[1] == "fdatasync" || m[1] == "fsync":
		op.flush = m[4] == "0"
		return op, op.flush
	}
	t.Errorf("strace says what is not understood: %.120s", text)
	return op, false
}

// unhex reads strace's way of writing bytes.
func unhex(s string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
	if err != nil {
		return s
	}
	return string(b)
}
