package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// sumSize is how much of a block's SHA-256 is kept: 128 bits, which nobody meets
// by chance; nothing is trusted for it, since each file has its whole sum.
const sumSize = 16

// Blocks are the sums of the blocks of one full backup, by path. They are kept in
// the state folder, in private, and are not needed to restore.
type Blocks struct {
	Base  string            `json:"base"`          // the backup's name
	Place string            `json:"place"`         // the folder it is in
	Bytes int64             `json:"bytes"`         // the size of its file
	Keys  string            `json:"keys"`          // the recipients that it was encrypted for
	Sums  map[string][]byte `json:"sums"`          // sumSize bytes a block
	Part  int64             `json:"part,omitzero"` // the size of the largest partial backup upon it
}

// readBlocks reads what is kept at path; nothing is there before the first backup,
// and what cannot be read is as if it were not.
func readBlocks(path string) *Blocks {
	raw, err := os.ReadFile(path)
	var b Blocks
	if err != nil || json.Unmarshal(raw, &b) != nil || b.Base == "" {
		return nil
	}
	return &b
}

func (b *Blocks) write(path string) error {
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return statedir.WriteFile(path, raw)
}

// forget removes what is kept at path, so that the next backup is a full one.
func forget(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget what the last full backup has: %w", err)
	}
	return nil
}

// splitter takes a file's bytes and tells its blocks.
type splitter struct {
	buf  [BlockSize]byte
	n    int
	at   int64 // the offset of buf
	sums []byte
	tell func(at int64, block []byte, sum []byte) error // nil: only the sums are wanted
}

func (s *splitter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := copy(s.buf[s.n:], p)
		s.n, p = s.n+k, p[k:]
		if s.n == BlockSize {
			if err := s.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// flush ends the block that was begun.
func (s *splitter) flush() error {
	if s.n == 0 {
		return nil
	}
	sum := sha256.Sum256(s.buf[:s.n])
	s.sums = append(s.sums, sum[:sumSize]...)
	if s.tell != nil {
		if err := s.tell(s.at, s.buf[:s.n], sum[:sumSize]); err != nil {
			return err
		}
	}
	s.at += int64(s.n)
	s.n = 0
	return nil
}

// same reports whether a block has the sum that the base has at its place.
func same(sums []byte, at int64, sum []byte) bool {
	i := at / BlockSize * sumSize
	return i+sumSize <= int64(len(sums)) && bytes.Equal(sums[i:i+sumSize], sum)
}
