package cli

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

// maxTail bounds how much of the log is read at a time.
const maxTail = 1 << 20

// tailFile answers as logs.tail does: without a cursor the last lines, with
// one the whole lines that follow it.
func tailFile(path string, cursor *int64, limit int) (t protocol.LogsTail, err error) {
	t.File = path
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if cursor != nil {
			return t, nil // not written yet
		}
		return t, &failure{exitNotRunning, "there is no log yet: the gateway has not run with this state folder",
			"start it with `hearth gateway`"}
	}
	if err != nil {
		return t, fmt.Errorf("cannot read the log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return t, fmt.Errorf("cannot read the log: %w", err)
	}
	t.Size = info.Size()
	from := max(0, t.Size-maxTail)
	if cursor != nil {
		if from = *cursor; from > t.Size { // the file was replaced
			from, t.Reset = 0, true
		}
	}
	b := make([]byte, min(maxTail, t.Size-from))
	n, err := f.ReadAt(b, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return t, fmt.Errorf("cannot read the log: %w", err)
	}
	b = b[:n]
	end := bytes.LastIndexByte(b, '\n') + 1
	if end == 0 && n == maxTail {
		end = n // a line longer than that is shown in pieces
	}
	t.Cursor = from + int64(end)
	if b = b[:end]; len(b) == 0 {
		return t, nil
	}
	t.Lines = strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if cursor == nil {
		if from > 0 {
			t.Lines = t.Lines[1:] // its beginning was cut off
		}
		t.Lines = t.Lines[max(0, len(t.Lines)-limit):]
	}
	return t, nil
}
