package sqlite

import (
	"encoding/binary"
	"io"
)

const (
	logHeader   = 32
	frameHeader = 24
	logMagic    = 0x377f0682 // | 1: its sums are of big-endian words
)

// readLog finds the pages of the write-ahead log that were committed. A log that
// was begun anew, or one that ends in the middle of a change, counts as far as its
// sums are right; what comes behind was never committed.
func (f *File) readLog(wal io.ReaderAt, size int64) error {
	var h [logHeader]byte
	if _, err := wal.ReadAt(h[:], 0); err != nil {
		return nil //nolint:nilerr // too short to hold anything
	}
	magic := binary.BigEndian.Uint32(h[:])
	if magic&^1 != logMagic {
		return nil // it was emptied, or is none
	}
	page := int(binary.BigEndian.Uint32(h[8:]))
	if page < 512 || page > 1<<16 || page&(page-1) != 0 {
		return nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	s := sum{order: order}
	if s.add(h[:24]); s.a != binary.BigEndian.Uint32(h[24:]) || s.b != binary.BigEndian.Uint32(h[28:]) {
		return nil
	}
	f.wal, f.page = wal, page
	frame := make([]byte, frameHeader+page)
	pending := map[uint32]int64{}
	for at := int64(logHeader); at+int64(len(frame)) <= size; at += int64(len(frame)) {
		if _, err := wal.ReadAt(frame, at); err != nil {
			break
		}
		s.add(frame[:8])
		s.add(frame[frameHeader:])
		if string(frame[8:16]) != string(h[16:24]) || s.a != binary.BigEndian.Uint32(frame[16:]) || s.b != binary.BigEndian.Uint32(frame[20:]) {
			break
		}
		pending[binary.BigEndian.Uint32(frame)] = at + frameHeader
		if pages := binary.BigEndian.Uint32(frame[4:]); pages != 0 { // the end of a transaction
			for n, where := range pending {
				f.frames[n] = where
			}
			clear(pending)
			f.pages = pages
		}
	}
	if len(f.frames) == 0 {
		f.page = 0 // the file says it
	}
	return nil
}

// sum is the check sum of a log, which goes on from frame to frame.
type sum struct {
	order binary.ByteOrder
	a, b  uint32
}

func (s *sum) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		s.a += s.order.Uint32(b) + s.b
		s.b += s.order.Uint32(b[4:]) + s.a
	}
}
