package audit

import (
	"bufio"
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// maxLine is longer than any line of ours.
const maxLine = 256 << 10

// hashTail is what encode puts behind the body: ,"hash":"<64>"}
const hashTail = len(`,"hash":""}`) + 64

// decode reads a line without its line feed and checks its own hash.
func decode(line []byte) (e Entry, err error) {
	cut := len(line) - hashTail
	if cut < 2 || !bytes.HasPrefix(line[cut:], []byte(`,"hash":"`)) || !bytes.HasSuffix(line, []byte(`"}`)) {
		return e, errors.New("it is no entry")
	}
	body := append(line[:cut:cut], '}')
	if err := json.Unmarshal(body, &e); err != nil {
		return e, errors.New("it is no entry")
	}
	e.Hash = string(line[cut+len(`,"hash":"`) : len(line)-2])
	if subtle.ConstantTimeCompare([]byte(hashOf(body)), []byte(e.Hash)) != 1 {
		return e, errors.New("it was changed")
	}
	return e, nil
}

// older lists the rotated files, the oldest first.
func (l *Log) older() ([]string, error) {
	dir, name := filepath.Split(l.Path)
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	all, err := filepath.Glob(filepath.Join(dir, stem+"-*"+ext))
	if err != nil {
		return nil, err
	}
	slices.Sort(all)
	return all, nil
}

func (l *Log) rotatedName(last uint64) string {
	ext := filepath.Ext(l.Path)
	return fmt.Sprintf("%s-%016d%s", strings.TrimSuffix(l.Path, ext), last, ext)
}

// rotate puts the full file aside and drops the oldest ones; the chain goes on.
// l.mu is held.
func (l *Log) rotate() error {
	if err := l.file.Close(); err != nil {
		return err
	}
	l.file = nil
	if err := os.Rename(l.Path, l.rotatedName(l.head.Seq)); err != nil {
		return err
	}
	if err := l.openFile(); err != nil {
		return err
	}
	old, err := l.older()
	if err != nil {
		return err
	}
	for len(old) > l.Keep {
		var last Entry
		if err := eachLine(old[0], func(line []byte) error { last, _ = decode(line); return nil }); err != nil {
			return err
		}
		if err := l.anchor("base", mark{last.Seq, last.Hash}); err != nil { // first: a gap must be explained
			return err
		}
		if err := os.Remove(old[0]); err != nil {
			return err
		}
		old = old[1:]
	}
	return nil
}

func (l *Log) openFile() error {
	f, err := os.OpenFile(l.Path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return err
	}
	if !st.Mode().IsRegular() {
		_ = f.Close()
		return fmt.Errorf("%s is no plain file", l.Path)
	}
	if err := f.Chmod(0o600); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		_ = f.Close()
		return err
	}
	l.file, l.size = f, st.Size()
	return nil
}

// takeUp finds the end of the chain. What a crash left of a last line is cut
// off; entries that a crash kept out of the anchor are taken. Anything else
// that does not fit is left for Verify to show, and the chain goes on from the
// anchor.
func (l *Log) takeUp() (notes []string, err error) {
	anchored, _, err := l.mark("head")
	if err != nil {
		return nil, err
	}
	if err := l.openFile(); err != nil {
		return nil, err
	}
	l.head = anchored
	whole, head, ok, err := l.tail(anchored)
	if err != nil {
		return nil, err
	}
	if ok {
		l.head = head
	} else if l.size > 0 || anchored.Seq > 0 {
		notes = append(notes, "the end of the log is not where it was left: entries were removed or changed while Hearth did not run")
	}
	if whole < l.size && ok {
		if err := l.file.Truncate(whole); err != nil {
			return nil, err
		}
		notes = append(notes, fmt.Sprintf("%d bytes of an unfinished entry were cut off after a crash", l.size-whole))
		l.size = whole
	}
	if whole < l.size { // never append to half a line
		if _, err := l.file.WriteAt([]byte("\n"), l.size); err != nil {
			return nil, err
		}
		l.size++
	}
	return notes, nil
}

// tail reads the current file: whole is where its last line feed ends, head the
// last entry, ok whether the anchor is in it (or right before it) and
// everything behind follows from it.
func (l *Log) tail(anchored mark) (whole int64, head mark, ok bool, err error) {
	head, ok = mark{}, anchored.Seq == 0
	var prev *Entry
	err = eachLine(l.Path, func(line []byte) error {
		whole += int64(len(line)) + 1
		e, derr := decode(line)
		switch {
		case derr != nil:
			ok = false
			return nil
		case prev == nil && e.Prev == anchored.Hash && e.Seq == anchored.Seq+1:
			ok = true // the file begins behind the anchor
		case e.Seq == anchored.Seq && e.Hash == anchored.Hash:
			ok = true
		case prev != nil && (e.Prev != prev.Hash || e.Seq != prev.Seq+1):
			ok = false
		}
		prev = &e
		head = mark{e.Seq, e.Hash}
		return nil
	})
	if prev == nil { // fresh after a rotation
		var last Entry
		old, gerr := l.older()
		if gerr == nil && len(old) > 0 {
			gerr = eachLine(old[len(old)-1], func(line []byte) error { last, _ = decode(line); return nil })
		}
		head, ok = anchored, anchored == mark{last.Seq, last.Hash}
		err = errors.Join(err, gerr)
	}
	return whole, head, ok, err
}

func (l *Log) mark(name string) (m mark, ok bool, err error) {
	err = l.DB.View(func(tx *store.Tx) error {
		m, ok, err = l.marks.Get(tx, []byte(name))
		return err
	})
	return m, ok, err
}

// eachLine hands every whole line of a file to fn, without its line feed.
func eachLine(path string, fn func(line []byte) error) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, maxLine)
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case err == io.EOF:
			return nil // what is left is no whole line
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("%s holds a line that is too long", filepath.Base(path))
		case err != nil:
			return err
		}
		if err := fn(line[:len(line)-1]); err != nil {
			return err
		}
	}
}
