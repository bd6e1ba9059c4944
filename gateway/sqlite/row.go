package sqlite

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// Row is one row of a table. What cannot be read is empty, and Err says why.
type Row struct {
	ID       int64
	f        *File
	t        *Table
	size     int    // of the whole payload
	have     []byte // what is read of it
	overflow uint32 // the page on which it goes on; 0: it is all there
	kinds    []uint64
	starts   []int
	err      error
}

// row reads a cell of a leaf.
func (f *File) row(t *Table, nd *node, i int) (*Row, error) {
	c, err := nd.cell(i)
	if err != nil {
		return nil, err
	}
	size, n := varint(c)
	id, m := varint(c[n:])
	if n == 0 || m == 0 || size > maxRow {
		return nil, damaged("a row of %d bytes", size)
	}
	c = c[n+m:]
	local := f.local(int(size))
	r := &Row{ID: int64(id), f: f, t: t, size: int(size)}
	if local > len(c) || local < int(size) && local+4 > len(c) {
		return nil, damaged("a row goes beyond its page")
	}
	r.have = c[:local:local]
	if local < int(size) {
		if r.overflow = binary.BigEndian.Uint32(c[local:]); r.overflow == 0 {
			return nil, damaged("a row is cut off")
		}
	}
	return r, r.readKinds()
}

// local is how many bytes of a payload stand in the leaf itself.
func (f *File) local(size int) int {
	u := f.usable
	if size <= u-35 {
		return size
	}
	least := (u-12)*32/255 - 23
	if k := least + (size-least)%(u-4); k <= u-35 {
		return k
	}
	return least
}

// need reads the payload up to a length.
func (r *Row) need(n int) error {
	if n > r.size {
		return damaged("a value goes beyond its row")
	}
	for len(r.have) < n {
		if r.overflow == 0 {
			return damaged("a row is cut off")
		}
		p, err := r.f.read(r.overflow)
		if err != nil {
			return err
		}
		part := p[4:r.f.usable]
		r.have = append(r.have, part[:min(len(part), r.size-len(r.have))]...)
		r.overflow = binary.BigEndian.Uint32(p)
	}
	return nil
}

// readKinds reads what the row says of its values.
func (r *Row) readKinds() error {
	const longest = 9
	if err := r.need(min(longest, r.size)); err != nil {
		return err
	}
	head, n := varint(r.have)
	if n == 0 || head < uint64(n) || head > uint64(r.size) || head > maxColumns*longest {
		return damaged("the head of a row")
	}
	if err := r.need(int(head)); err != nil {
		return err
	}
	at := int(head)
	for rest := r.have[n:head]; len(rest) > 0; {
		kind, k := varint(rest)
		if k == 0 || len(r.kinds) >= maxColumns {
			return damaged("the head of a row")
		}
		rest = rest[k:]
		r.kinds, r.starts = append(r.kinds, kind), append(r.starts, at)
		if at += width(kind); at > r.size || at < 0 {
			return damaged("a value goes beyond its row")
		}
	}
	return nil
}

// width is how many bytes a value of a kind takes.
func width(kind uint64) int {
	switch {
	case kind <= 4:
		return int(kind)
	case kind == 5:
		return 6
	case kind == 6, kind == 7:
		return 8
	case kind < 12:
		return 0
	}
	return int(min((kind-12)/2, maxRow+1))
}

// value is the bytes of a column; false for NULL and for a column that is not there.
func (r *Row) value(column string) (kind uint64, b []byte, ok bool) {
	i, known := r.t.byName[strings.ToLower(column)]
	if !known || i < 0 || i >= len(r.kinds) || r.kinds[i] == 0 {
		return 0, nil, false
	}
	kind = r.kinds[i]
	end := r.starts[i] + width(kind)
	if err := r.need(end); err != nil {
		if r.err == nil {
			r.err = err
		}
		return 0, nil, false
	}
	return kind, r.have[r.starts[i]:end], true
}

// Err is why something that was asked for could not be read.
func (r *Row) Err() error { return r.err }

// Size is how many bytes the row takes.
func (r *Row) Size() int { return r.size }

// Null reports whether a column has no value, or is not there.
func (r *Row) Null(column string) bool {
	i, ok := r.t.byName[strings.ToLower(column)]
	return !ok || i >= 0 && (i >= len(r.kinds) || r.kinds[i] == 0)
}

// Text is the value of a column as text.
func (r *Row) Text(column string) string {
	kind, b, ok := r.value(column)
	switch {
	case !ok:
		return ""
	case kind >= 12:
		return string(b)
	case kind == 7:
		return strconv.FormatFloat(real64(b), 'f', -1, 64)
	}
	return strconv.FormatInt(integer(kind, b), 10)
}

// Blob is the value of a column as bytes.
func (r *Row) Blob(column string) []byte {
	kind, b, ok := r.value(column)
	if !ok || kind < 12 {
		return nil
	}
	return append([]byte(nil), b...)
}

// Int is the value of a column as a whole number, 0 for none.
func (r *Row) Int(column string) int64 {
	if i, ok := r.t.byName[strings.ToLower(column)]; ok && i < 0 {
		return r.ID
	}
	kind, b, ok := r.value(column)
	switch {
	case !ok, kind >= 12:
		return 0
	case kind == 7:
		return whole(real64(b))
	}
	return integer(kind, b)
}

// Real is the value of a column as a number.
func (r *Row) Real(column string) float64 {
	if kind, b, ok := r.value(column); ok && kind == 7 {
		return real64(b)
	}
	return float64(r.Int(column))
}

func real64(b []byte) float64 { return math.Float64frombits(binary.BigEndian.Uint64(b)) }

// whole is a number without its fraction, within what fits.
func whole(v float64) int64 {
	if v != v || v > math.MaxInt64/2 || v < math.MinInt64/2 {
		return 0
	}
	return int64(v)
}

func integer(kind uint64, b []byte) int64 {
	switch kind {
	case 8:
		return 0
	case 9:
		return 1
	}
	if len(b) == 0 {
		return 0
	}
	v := int64(int8(b[0]))
	for _, c := range b[1:] {
		v = v<<8 | int64(c)
	}
	return v
}
