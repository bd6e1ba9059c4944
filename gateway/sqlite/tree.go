package sqlite

import "encoding/binary"

// Kinds of pages of a table.
const (
	interior = 0x05
	leaf     = 0x0d
)

// node is a page of a tree.
type node struct {
	data  []byte
	kind  byte
	cells int
	from  int // where the list of cells begins
}

func (f *File) node(n uint32) (*node, error) {
	p, err := f.read(n)
	if err != nil {
		return nil, err
	}
	at := 0
	if n == 1 {
		at = headerSize
	}
	nd := &node{data: p, kind: p[at], cells: int(binary.BigEndian.Uint16(p[at+3:])), from: at + 8}
	switch nd.kind {
	case leaf:
	case interior:
		nd.from += 4
	default:
		return nil, damaged("page %d is no part of a table", n)
	}
	if nd.from+2*nd.cells > f.usable {
		return nil, damaged("page %d has %d cells", n, nd.cells)
	}
	return nd, nil
}

// cell is where a cell begins.
func (nd *node) cell(i int) ([]byte, error) {
	at := int(binary.BigEndian.Uint16(nd.data[nd.from+2*i:]))
	if at < nd.from || at+4 > len(nd.data) {
		return nil, damaged("a cell outside of its page")
	}
	return nd.data[at:], nil
}

// right is the last child of an interior page.
func (nd *node) right() uint32 { return binary.BigEndian.Uint32(nd.data[nd.from-4:]) }

// child is that of a cell of an interior page, with the largest number below it.
func (nd *node) child(i int) (page uint32, most int64, err error) {
	c, err := nd.cell(i)
	if err != nil {
		return 0, 0, err
	}
	key, n := varint(c[4:])
	if n == 0 {
		return 0, 0, damaged("a key is cut off")
	}
	return binary.BigEndian.Uint32(c), int64(key), nil
}

// walk visits every row of a table once.
type walk struct {
	f    *File
	t    *Table
	left int64 // pages that it may still visit
}

// page visits what is below a page; more is false when nobody wants more.
func (w *walk) page(n uint32, depth int, yield func(*Row, error) bool) (more bool, err error) {
	if w.left--; w.left < 0 || depth > maxDepth {
		return false, damaged("the table %s runs in a circle", w.t.Name)
	}
	nd, err := w.f.node(n)
	if err != nil {
		return false, err
	}
	for i := range nd.cells {
		if nd.kind == interior {
			child, _, err := nd.child(i)
			if err != nil {
				return false, err
			}
			if more, err := w.page(child, depth+1, yield); !more || err != nil {
				return false, err
			}
			continue
		}
		row, err := w.f.row(w.t, nd, i)
		if err != nil {
			return false, err
		}
		if !yield(row, nil) {
			return false, nil
		}
	}
	if nd.kind == interior {
		return w.page(nd.right(), depth+1, yield)
	}
	return true, nil
}

// Row finds a row by its number; nil when there is none.
func (f *File) Row(table string, id int64) (*Row, error) {
	t := f.Table(table)
	if t == nil {
		return nil, ErrNoTable
	}
	at := t.root
	for range maxDepth {
		nd, err := f.node(at)
		if err != nil {
			return nil, err
		}
		if nd.kind == leaf {
			return f.find(t, nd, id)
		}
		if at, err = nd.toward(id); err != nil {
			return nil, err
		}
	}
	return nil, damaged("the table %s runs in a circle", t.Name)
}

// toward is the child of an interior page that a row would be below.
func (nd *node) toward(id int64) (uint32, error) {
	low, high := 0, nd.cells
	for low < high {
		mid := (low + high) / 2
		_, most, err := nd.child(mid)
		if err != nil {
			return 0, err
		}
		if most < id {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == nd.cells {
		return nd.right(), nil
	}
	child, _, err := nd.child(low)
	return child, err
}

func (f *File) find(t *Table, nd *node, id int64) (*Row, error) {
	low, high := 0, nd.cells
	for low < high {
		mid := (low + high) / 2
		r, err := f.row(t, nd, mid)
		switch {
		case err != nil:
			return nil, err
		case r.ID == id:
			return r, nil
		case r.ID < id:
			low = mid + 1
		default:
			high = mid
		}
	}
	return nil, nil
}

// varint reads SQLite's numbers of one to nine bytes; n is 0 when it is cut off.
func varint(b []byte) (v uint64, n int) {
	const last = 8
	for i, c := range b {
		if i == last {
			return v<<8 | uint64(c), last + 1
		}
		v = v<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
