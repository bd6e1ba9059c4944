package logfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Limits of one Tail.
const (
	defaultTailLines = 500
	maxTailLines     = 5000
	defaultTailBytes = 250_000
	maxTailBytes     = 1_000_000
)

// Tail reads whole lines of the log, for logs.tail. Without a cursor it gives
// the newest lines; with one, the lines that follow it, oldest first, and the
// cursor to go on with: a reader that keeps asking misses nothing, rotation
// included. Truncated says that older lines were left out for their size.
func Tail(path string, p protocol.LogsTailParams) (protocol.LogsTail, error) {
	lines := clamp(p.Limit, defaultTailLines, maxTailLines)
	limit := clamp(p.MaxBytes, defaultTailBytes, maxTailBytes)
	out := protocol.LogsTail{File: path, Lines: []string{}}
	f, size, err := openLog(path)
	if err != nil {
		return out, err
	}
	if f == nil { // nothing was logged yet
		out.Reset = p.Cursor != nil && *p.Cursor > 0
		return out, nil
	}
	defer f.Close()
	out.Size = size
	if p.Cursor == nil {
		return newest(f, out, lines, limit)
	}
	if cursor := max(*p.Cursor, 0); cursor <= size {
		out.Lines, out.Cursor, err = following(f, cursor, size, lines, limit)
		return out, err
	}
	return afterRotation(path, out, *p.Cursor, lines, limit)
}

func clamp(n, usual, most int) int {
	if n <= 0 {
		return usual
	}
	return min(n, most)
}

func openLog(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, 0, fmt.Errorf("read the log: %w", err)
	}
	return f, info.Size(), nil
}

// newest gives the last lines of the file.
func newest(f *os.File, out protocol.LogsTail, lines, limit int) (protocol.LogsTail, error) {
	start := max(out.Size-int64(limit), 0)
	buf, err := read(f, start, out.Size)
	if err != nil {
		return out, err
	}
	end := bytes.LastIndexByte(buf, '\n') + 1
	out.Cursor = start + int64(end)
	buf = buf[:end]
	if start > 0 && !endsLine(f, start) {
		buf = buf[bytes.IndexByte(buf, '\n')+1:]
	}
	out.Truncated = start > 0
	out.Lines = split(buf)
	if n := len(out.Lines); n > lines {
		out.Lines = out.Lines[n-lines:]
	}
	return out, nil
}

// following gives the lines from a cursor on. A cursor inside a line (of a file
// that was replaced and grew) skips to the next one.
func following(f *os.File, cursor, size int64, lines, limit int) ([]string, int64, error) {
	buf, err := read(f, cursor, min(size, cursor+int64(limit)))
	if err != nil {
		return nil, cursor, err
	}
	if cursor > 0 && !endsLine(f, cursor) {
		n := bytes.IndexByte(buf, '\n') + 1
		if n == 0 {
			n = len(buf)
		}
		cursor, buf = cursor+int64(n), buf[n:]
	}
	if bytes.IndexByte(buf, '\n') < 0 && cursor+int64(len(buf)) < size {
		// One line is longer than the caller's limit: give it whole when it is
		// one of ours, and go past it in any case.
		if buf, err = read(f, cursor, min(size, cursor+maxTailBytes)); err != nil {
			return nil, cursor, err
		}
		if i := bytes.IndexByte(buf, '\n'); i >= 0 {
			return split(buf[:i+1]), cursor + int64(i) + 1, nil
		}
		if len(buf) == maxTailBytes {
			return []string{}, cursor + maxTailBytes, nil
		}
	}
	end := 0
	for n := 0; n < lines; n++ {
		i := bytes.IndexByte(buf[end:], '\n')
		if i < 0 {
			break
		}
		end += i + 1
	}
	return split(buf[:end]), cursor + int64(end), nil
}

// afterRotation first finishes the file that the cursor was made in.
func afterRotation(path string, out protocol.LogsTail, cursor int64, lines, limit int) (protocol.LogsTail, error) {
	old, oldSize, err := openLog(rotated(path, 1))
	if err != nil {
		return out, err
	}
	if old != nil {
		defer old.Close()
		if cursor < oldSize {
			next := int64(0)
			if out.Lines, next, err = following(old, cursor, oldSize, lines, limit); err != nil {
				return out, err
			}
			if next < oldSize && len(out.Lines) > 0 && next > out.Size {
				out.Cursor = next // not done with it: ask again
				return out, nil
			}
		}
	}
	out.Reset, out.Cursor = true, 0
	return out, nil
}

func read(f *os.File, from, to int64) ([]byte, error) {
	buf := make([]byte, to-from)
	n, err := f.ReadAt(buf, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	return buf[:n], nil
}

// endsLine says whether a line ends right before an offset.
func endsLine(f *os.File, at int64) bool {
	b := make([]byte, 1)
	_, err := f.ReadAt(b, at-1)
	return err == nil && b[0] == '\n'
}

func split(buf []byte) []string {
	out := []string{}
	for line := range strings.Lines(strings.ToValidUTF8(string(buf), "\ufffd")) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			out = append(out, line)
		}
	}
	return out
}
