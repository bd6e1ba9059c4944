// Package logfile owns the gateway's log on disk: one JSON object a line, in a
// private file that is rotated by size, and the reading end of it (Tail).
//
// It does not decide what is logged or at which level, and it knows no secrets:
// the caller hands in a function that hides them. Writing a log line never
// stops the gateway: a full disk costs lines, which are counted.
package logfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	maxLine  = 64 << 10 // bytes of one line; longer ones are cut down
	maxValue = 8 << 10  // bytes of one text in it
)

// Options of a File. The zero value works.
type Options struct {
	Level     slog.Leveler               // default: info; a *slog.LevelVar can change while running
	Redact    func(string) string        // hides secrets in a text; must not log; default: leaves it
	MaxBytes  int64                      // size at which the file is rotated; default 8 MiB
	Keep      int                        // files kept, the current one included; default 3
	PerSecond int                        // equal lines in a second that are written; default 100
	Now       func() time.Time           // clock; default time.Now
	Mirror    func(line []byte)          // also gets every line, for example a terminal; must not log
	rename    func(old, to string) error // seam for tests
}

// File is the open log.
type File struct {
	path string
	opts Options

	mu      sync.Mutex
	f       *os.File // nil while it cannot be opened
	size    int64
	lookAt  time.Time // when to check next that the file is still there
	retryAt int64     // size at which a rotation that failed is tried again
	lost    int       // lines that could not be written
	closed  bool
	sampler sampler
}

// Open opens the log for appending, private to the user.
func Open(path string, opts Options) (*File, error) {
	if opts.Level == nil {
		opts.Level = slog.LevelInfo
	}
	if opts.Redact == nil {
		opts.Redact = func(s string) string { return s }
	}
	if opts.MaxBytes <= 0 {
		opts.MaxBytes = 8 << 20
	}
	if opts.Keep <= 0 {
		opts.Keep = 3
	}
	if opts.PerSecond <= 0 {
		opts.PerSecond = 100
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.rename == nil {
		opts.rename = os.Rename
	}
	f := &File{path: path, opts: opts, sampler: sampler{limit: opts.PerSecond}}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("open the log file: %w", err)
	}
	return f, nil
}

// open (re)opens the file and goes to its end.
func (f *File) open() error {
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", f.path)
	}
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		err = file.Chmod(0o600)
	}
	if err != nil {
		_ = file.Close()
		return err
	}
	f.f, f.size, f.retryAt = file, info.Size(), 0
	f.lookAt = f.opts.Now().Add(5 * time.Second)
	last := []byte{'\n'}
	if f.size > 0 {
		_, _ = file.ReadAt(last, f.size-1)
	}
	if last[0] != '\n' { // a line that a crash cut: ours starts on a new one
		n, _ := file.Write([]byte{'\n'})
		f.size += int64(n)
	}
	return nil
}

// Close writes what is still counted and closes the file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.flush()
	f.closed = true
	f.sampler.stop()
	if f.f == nil {
		return nil
	}
	err := f.f.Close()
	f.f = nil
	return err
}

// write appends one line, rotating first when it would not fit. f.mu is held.
func (f *File) write(line []byte) error {
	if f.closed {
		return fs.ErrClosed
	}
	f.ensure(int64(len(line)))
	if f.f == nil {
		f.lost++
		return errors.New("the log file cannot be opened")
	}
	if f.lost > 0 {
		note := f.note("log lines could not be written", "count", f.lost)
		if n, err := f.f.Write(note); err == nil {
			f.size += int64(n)
			f.lost = 0
		}
	}
	n, err := f.f.Write(line)
	f.size += int64(n)
	if err != nil {
		f.lost++
		if n > 0 { // half a line on a full disk: take it back
			if f.f.Truncate(f.size-int64(n)) == nil {
				f.size -= int64(n)
			}
		}
		return fmt.Errorf("write the log: %w", err)
	}
	if f.opts.Mirror != nil {
		f.opts.Mirror(line)
	}
	return nil
}

// ensure has an open file with room for n bytes, if that is possible.
func (f *File) ensure(n int64) {
	if now := f.opts.Now(); f.f != nil && !now.Before(f.lookAt) {
		f.lookAt = now.Add(5 * time.Second)
		mine, err1 := f.f.Stat()
		there, err2 := os.Stat(f.path)
		if err1 != nil || err2 != nil || !os.SameFile(mine, there) { // moved or deleted by somebody
			_ = f.f.Close()
			f.f = nil
		}
	}
	if f.f != nil && f.size > 0 && f.size+n > max(f.opts.MaxBytes, f.retryAt) {
		f.rotate()
	}
	if f.f == nil {
		_ = f.open() // f.f stays nil and the line is counted as lost
	}
}

// rotate moves path to path.1, path.1 to path.2 and so on.
func (f *File) rotate() {
	size := f.size
	_ = f.f.Close()
	f.f = nil
	var err error
	for i := f.opts.Keep - 1; i > 0 && err == nil; i-- {
		if err = f.opts.rename(rotated(f.path, i-1), rotated(f.path, i)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if f.opts.Keep == 1 {
		err = os.Remove(f.path)
	}
	if f.open() == nil && err != nil {
		f.retryAt = size + f.opts.MaxBytes/8 // somebody holds it open (Windows): grow a little and try again
	}
}

// rotated is the name of the i-th older file.
func rotated(path string, i int) string {
	if i == 0 {
		return path
	}
	return path + "." + strconv.Itoa(i)
}

// note makes a line of our own.
func (f *File) note(msg, key string, value any) []byte {
	line, err := json.Marshal(map[string]any{"time": f.opts.Now().Format(time.RFC3339Nano), "level": "WARN", "msg": msg, key: value})
	if err != nil {
		return nil
	}
	return append(line, '\n')
}

// Write takes one finished line of the JSON handler. It is the last gate:
// secrets that hid in keys or numbers, control characters and length.
func (f *File) Write(line []byte) (int, error) {
	out := []byte(f.opts.Redact(string(line)))
	out = append(escaped(bytes.TrimRight(out, "\n")), '\n')
	if len(out) > maxLine || bytes.IndexByte(out, '\n') != len(out)-1 || !json.Valid(out) {
		out = f.note("a log line was withheld because it was too long or held a secret", "bytes", len(line))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.write(out); err != nil {
		return 0, err
	}
	return len(line), nil
}

// escaped spells out what JSON lets through but a terminal obeys: DEL, the C1
// controls, line separators and characters that turn the writing direction.
func escaped(line []byte) []byte {
	out := line
	copied := false
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRune(line[i:])
		bad := r >= 0x7f && r <= 0x9f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
		if bad && !copied {
			out, copied = append([]byte(nil), line[:i]...), true
		}
		switch {
		case bad:
			out = fmt.Appendf(out, `\u%04x`, r)
		case copied:
			out = append(out, line[i:i+n]...)
		}
		i += n
	}
	return out
}
