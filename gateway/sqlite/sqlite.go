// Package sqlite reads the tables of SQLite database files, for imports from
// programs that keep their state in such files. It reads table by table in the
// order of the rows and finds a row by its number; it has no SQL, uses no index,
// and writes nothing. What a write-ahead log beside the file holds counts.
//
// The files are strangers': every page, length and pointer is checked against the
// file, no walk visits more pages than there are, and a damaged file is an error
// (ErrDamaged) and nothing else. The caller sees to it that the file stands still
// (a copy), and bounds its size.
package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// Limits of what is read.
const (
	maxRow     = 64 << 20 // bytes of one row
	maxDepth   = 24       // of a tree
	maxTables  = 10_000
	maxColumns = 2000 // SQLite's own
)

// Errors that callers tell apart.
var (
	ErrDamaged = errors.New("the database is damaged")
	ErrNoTable = errors.New("the database has no such table")
	ErrForeign = errors.New("this is not a SQLite database that can be read")
)

func damaged(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, a...))
}

// File is an open database. It is safe for concurrent use as its readers are.
type File struct {
	db     io.ReaderAt
	size   int64
	wal    io.ReaderAt
	frames map[uint32]int64 // page → where its newest committed copy is in the log
	page   int              // bytes of a page
	usable int              // of them, for content
	pages  uint32
	tables map[string]*Table // by folded name
}

// Table is what a database says of one of its tables.
type Table struct {
	Name    string
	Columns []string
	root    uint32
	byName  map[string]int // folded name → place in a row, -1: the row's number
}

const headerSize = 100

// Open reads the header and the list of tables. wal may be nil.
func Open(db io.ReaderAt, size int64, wal io.ReaderAt, walSize int64) (*File, error) {
	f := &File{db: db, size: size, frames: map[uint32]int64{}, tables: map[string]*Table{}}
	if wal != nil && walSize > 0 {
		if err := f.readLog(wal, walSize); err != nil {
			return nil, err
		}
	}
	var first [headerSize]byte
	if at, ok := f.frames[1]; ok {
		if _, err := f.wal.ReadAt(first[:], at); err != nil {
			return nil, damaged("its first page cannot be read: %v", err)
		}
	} else if _, err := db.ReadAt(first[:], 0); err != nil {
		return nil, fmt.Errorf("%w: it has no header", ErrForeign)
	}
	if err := f.readHeader(first[:]); err != nil {
		return nil, err
	}
	return f, f.readSchema()
}

func (f *File) readHeader(h []byte) error {
	const utf8 = 1
	if string(h[:16]) != "SQLite format 3\x00" {
		return fmt.Errorf("%w: it does not begin like one", ErrForeign)
	}
	size := int(binary.BigEndian.Uint16(h[16:]))
	if size == 1 {
		size = 1 << 16
	}
	if size < 512 || size > 1<<16 || size&(size-1) != 0 || f.page != 0 && f.page != size {
		return damaged("pages of %d bytes", size)
	}
	f.page, f.usable = size, size-int(h[20])
	if f.usable < 480 {
		return damaged("only %d bytes of a page are used", f.usable)
	}
	if e := binary.BigEndian.Uint32(h[56:]); e > utf8 {
		return fmt.Errorf("%w: its text is in UTF-16", ErrForeign)
	}
	if inFile := f.size / int64(size); int64(f.pages) < inFile {
		f.pages = uint32(min(inFile, 1<<32-2))
	}
	return nil
}

// read is one page as it stands.
func (f *File) read(n uint32) ([]byte, error) {
	if n == 0 || n > f.pages {
		return nil, damaged("page %d of %d", n, f.pages)
	}
	p := make([]byte, f.page)
	if at, ok := f.frames[n]; ok {
		if _, err := f.wal.ReadAt(p, at); err != nil {
			return nil, damaged("page %d cannot be read: %v", n, err)
		}
		return p, nil
	}
	if _, err := f.db.ReadAt(p, int64(n-1)*int64(f.page)); err != nil {
		return nil, damaged("page %d cannot be read: %v", n, err)
	}
	return p, nil
}

// readSchema lists the tables.
func (f *File) readSchema() error {
	schema := &Table{Name: "sqlite_schema", root: 1, byName: map[string]int{"type": 0, "name": 1, "tbl_name": 2, "rootpage": 3, "sql": 4}}
	for row, err := range f.rows(schema) {
		if err != nil {
			return err
		}
		root := row.Int("rootpage")
		if row.Text("type") != "table" || root <= 1 || root > int64(f.pages) {
			continue // an index, a view, or a table that is another program's work
		}
		if len(f.tables) >= maxTables {
			return damaged("it has more than %d tables", maxTables)
		}
		t := &Table{Name: row.Text("name"), root: uint32(root)}
		t.columns(row.Text("sql"))
		f.tables[strings.ToLower(t.Name)] = t
		if row.Err() != nil {
			return row.Err()
		}
	}
	return nil
}

// Table is one of the tables; nil when there is none of this name.
func (f *File) Table(name string) *Table { return f.tables[strings.ToLower(name)] }

// Rows are those of a table, by their numbers. Large values are read when they are
// asked for.
func (f *File) Rows(table string) iter.Seq2[*Row, error] {
	t := f.Table(table)
	if t == nil {
		return func(yield func(*Row, error) bool) { yield(nil, fmt.Errorf("%w: %s", ErrNoTable, table)) }
	}
	return f.rows(t)
}

func (f *File) rows(t *Table) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		w := walk{f: f, t: t, left: int64(f.pages) + 1}
		if _, err := w.page(t.root, 0, yield); err != nil {
			yield(nil, err)
		}
	}
}
