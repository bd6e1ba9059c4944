package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Report is what Verify found.
type Report struct {
	OK      bool   `json:"ok"`
	Entries int    `json:"entries"`
	First   uint64 `json:"first,omitempty"`
	Last    uint64 `json:"last,omitempty"`
	Head    string `json:"head,omitempty"`    // hash of the last entry
	Problem string `json:"problem,omitempty"` // the first thing that does not fit, and where
}

// Verify reads the whole log and tells whether it is as it was written.
func (l *Log) Verify(ctx context.Context) (Report, error) {
	if err := l.Flush(ctx); err != nil {
		return Report{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	base, _, err := l.mark("base")
	if err != nil {
		return Report{}, err
	}
	head, _, err := l.mark("head")
	if err != nil {
		return Report{}, err
	}
	rep := Report{}
	last := base
	problem := func(format string, a ...any) {
		if rep.Problem == "" {
			rep.Problem = fmt.Sprintf(format, a...)
		}
	}
	files, err := l.older()
	if err != nil {
		return rep, err
	}
	for _, path := range append(files, l.Path) {
		n, name := 0, filepath.Base(path)
		size := int64(0)
		err := eachLine(path, func(line []byte) error {
			n++
			size += int64(len(line)) + 1
			if len(line) == 0 {
				problem("%s line %d is empty", name, n)
				return nil
			}
			e, err := decode(line)
			switch {
			case err != nil:
				problem("%s line %d: %v", name, n, err)
				return nil
			case e.Seq != last.Seq+1:
				problem("%s line %d: entry %d stands where %d belongs, so entries were removed, added or moved", name, n, e.Seq, last.Seq+1)
			case e.Prev != last.Hash:
				problem("%s line %d: entry %d does not follow from the one before it", name, n, e.Seq)
			}
			if rep.Entries++; rep.First == 0 {
				rep.First = e.Seq
			}
			last = mark{e.Seq, e.Hash}
			return ctx.Err()
		})
		if err != nil {
			return rep, err
		}
		if st, err := os.Stat(path); err == nil && st.Size() != size {
			problem("%s ends in half an entry", name)
		}
	}
	switch {
	case last.Seq < head.Seq:
		problem("the log ends with entry %d, but %d were written: its end was cut off", last.Seq, head.Seq)
	case last != head:
		problem("the log ends with another entry %d than the one that was written", last.Seq)
	}
	rep.Last, rep.Head, rep.OK = last.Seq, last.Hash, rep.Problem == ""
	return rep, nil
}

// Query says which entries to list, the newest first.
type Query struct {
	Limit  int    // 0: 100
	Before uint64 // only entries with a smaller number; 0: all
	Kind   Kind   // "" = all
}

const maxList = 1000

// List returns entries, the newest first. Lines that are no entries are left
// out; Verify shows them.
func (l *Log) List(ctx context.Context, q Query) ([]Entry, error) {
	if err := l.Flush(ctx); err != nil {
		return nil, err
	}
	if q.Limit <= 0 {
		q.Limit = 100
	}
	q.Limit = min(q.Limit, maxList)
	l.mu.Lock()
	defer l.mu.Unlock()
	files, err := l.older()
	if err != nil {
		return nil, err
	}
	files = append(files, l.Path)
	var out []Entry
	for i := len(files) - 1; i >= 0 && len(out) < q.Limit; i-- {
		var page []Entry
		err := eachLine(files[i], func(line []byte) error {
			e, err := decode(line)
			if err == nil && (q.Before == 0 || e.Seq < q.Before) && (q.Kind == "" || e.Kind == q.Kind) {
				if page = append(page, e); len(page) > 2*q.Limit {
					page = append(page[:0], page[len(page)-q.Limit:]...)
				}
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
		slices.Reverse(page)
		out = append(out, page[:min(len(page), q.Limit-len(out))]...)
	}
	return out, nil
}
