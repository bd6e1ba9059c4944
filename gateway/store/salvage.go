package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// Salvage reads a store file without bbolt, page by page, and believes none of
// them: whatever does not fit is counted and left out. It never writes.
type Salvage struct {
	f        *os.File
	pageSize int64
	size     int64
	root     uint64
	pages    uint64           // how many the file says it has
	strays   map[uint64]int64 // pages that lie elsewhere: their number → offset

	Damaged int // pages that could not be read so far
}

// The format of bbolt's pages.
const (
	pageHead   = 16
	leafHead   = 16
	branchHead = 16
	bucketHead = 16

	flagBranch   = 0x01
	flagLeaf     = 0x02
	isBucket     = 0x01
	boltMagic    = 0xED0CDAED
	metaSize     = 64
	maxTreeDepth = 64
	maxPageBytes = 256 << 20 // of one record with its page
)

// OpenSalvage opens the file at path for reading what can be read.
func OpenSalvage(path string) (*Salvage, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &Salvage{f: f}
	if err := s.begin(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return s, nil
}

// Close closes the file.
func (s *Salvage) Close() error { return s.f.Close() }

func (s *Salvage) begin() error {
	st, err := s.f.Stat()
	if err != nil {
		return err
	}
	s.size = st.Size()
	best := uint64(0)
	for _, at := range []int64{0, 4096, 8192, 16384, 65536} { // the second one is a page further, whatever that is
		var b [pageHead + metaSize]byte
		if _, err := s.f.ReadAt(b[:], at); err != nil {
			continue
		}
		m := b[pageHead:]
		h := fnv.New64a()
		_, _ = h.Write(m[:56])
		size := int64(binary.LittleEndian.Uint32(m[8:]))
		if binary.LittleEndian.Uint32(m) != boltMagic || h.Sum64() != binary.LittleEndian.Uint64(m[56:]) || size < 512 || size > 64<<10 ||
			at != 0 && at != size {
			continue
		}
		if tx := binary.LittleEndian.Uint64(m[48:]); s.pageSize == 0 || tx > best {
			best, s.pageSize = tx, size
			s.root, s.pages = binary.LittleEndian.Uint64(m[16:]), binary.LittleEndian.Uint64(m[40:])
		}
	}
	if s.pageSize == 0 {
		return fmt.Errorf("%w: both of its beginnings are gone", ErrDamaged)
	}
	return nil
}

// find learns which pages say that they are another one.
func (s *Salvage) find() {
	s.strays = map[uint64]int64{}
	var head [pageHead]byte
	for at := int64(0); at+pageHead <= s.size; at += s.pageSize {
		if _, err := s.f.ReadAt(head[:], at); err != nil {
			return
		}
		id, flags := binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint16(head[8:])
		if id != uint64(at/s.pageSize) && id < s.pages && (flags == flagBranch || flags == flagLeaf) {
			s.strays[id] = at
		}
	}
}

// page reads page id with what overflows it, wherever it lies.
func (s *Salvage) page(id uint64) []byte {
	if id < 2 || id > uint64(s.size/s.pageSize) && s.strays == nil {
		s.Damaged++
		return nil
	}
	b, ok := s.pageAt(id, int64(id)*s.pageSize)
	if !ok {
		s.Damaged++
		if s.strays == nil {
			s.find()
		}
		if at, found := s.strays[id]; found {
			b, _ = s.pageAt(id, at)
		}
	}
	return b
}

func (s *Salvage) pageAt(id uint64, at int64) ([]byte, bool) {
	var head [pageHead]byte
	if _, err := s.f.ReadAt(head[:], at); err != nil {
		return nil, false
	}
	flags := binary.LittleEndian.Uint16(head[8:])
	if binary.LittleEndian.Uint64(head[:]) != id || flags != flagBranch && flags != flagLeaf {
		return nil, false
	}
	n := (int64(binary.LittleEndian.Uint32(head[12:])) + 1) * s.pageSize
	if n > maxPageBytes || at+n > s.size {
		n = min(s.size-at, s.pageSize) // the overflow is not there: what is on this page may be
	}
	b := make([]byte, n)
	if _, err := s.f.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
		return nil, false
	}
	return b, true
}

// part is length bytes of b from at, nil when they are not there.
func part(b []byte, at, length uint64) []byte {
	if at > uint64(len(b)) || length > uint64(len(b))-at {
		return nil
	}
	return b[at : at+length : at+length]
}

// walk tells the records below page id. seen keeps a tree that leads back to
// itself from being walked for ever.
func (s *Salvage) walk(id uint64, depth int, seen map[uint64]bool, tell func(flags uint32, key, value []byte) error) error {
	if seen[id] || depth > maxTreeDepth {
		s.Damaged++
		return nil
	}
	seen[id] = true
	b := s.page(id)
	if b == nil {
		return nil
	}
	if binary.LittleEndian.Uint16(b[8:]) == flagLeaf {
		return s.leaf(b, tell)
	}
	for i := range uint64(binary.LittleEndian.Uint16(b[10:])) {
		e := part(b, pageHead+i*branchHead, branchHead)
		if e == nil {
			s.Damaged++
			return nil
		}
		if err := s.walk(binary.LittleEndian.Uint64(e[8:]), depth+1, seen, tell); err != nil {
			return err
		}
	}
	return nil
}

func (s *Salvage) leaf(b []byte, tell func(flags uint32, key, value []byte) error) error {
	for i := range uint64(binary.LittleEndian.Uint16(b[10:])) {
		at := pageHead + i*leafHead
		e := part(b, at, leafHead)
		if e == nil {
			s.Damaged++
			return nil
		}
		flags, pos := binary.LittleEndian.Uint32(e), uint64(binary.LittleEndian.Uint32(e[4:]))
		klen, vlen := uint64(binary.LittleEndian.Uint32(e[8:])), uint64(binary.LittleEndian.Uint32(e[12:]))
		key, value := part(b, at+pos, klen), part(b, at+pos+klen, vlen)
		if key == nil || value == nil || klen == 0 {
			s.Damaged++
			continue
		}
		if err := tell(flags, key, value); err != nil {
			return err
		}
	}
	return nil
}

// Tables tells the names of the tables that can be found.
func (s *Salvage) Tables() []string {
	var names []string
	_ = s.walk(s.root, 0, map[uint64]bool{}, func(flags uint32, key, _ []byte) error {
		if flags == isBucket {
			names = append(names, string(key))
		}
		return nil
	})
	return names
}

// Rows tells the records of a table that can be read, in their order.
func (s *Salvage) Rows(table string, tell func(key, value []byte) error) error {
	return s.walk(s.root, 0, map[uint64]bool{}, func(flags uint32, key, value []byte) error {
		if flags != isBucket || string(key) != table {
			return nil
		}
		if len(value) < bucketHead {
			s.Damaged++
			return nil
		}
		plain := func(flags uint32, key, value []byte) error {
			if flags != 0 {
				s.Damaged++
				return nil
			}
			return tell(key, value)
		}
		if root := binary.LittleEndian.Uint64(value); root != 0 {
			return s.walk(root, 0, map[uint64]bool{}, plain)
		}
		if len(value) < bucketHead+pageHead {
			s.Damaged++
			return nil
		}
		return s.leaf(value[bucketHead:], plain)
	})
}
