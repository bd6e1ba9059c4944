package store

import (
	"bytes"

	"go.etcd.io/bbolt"
)

func (r Range) first(c *bbolt.Cursor) (k, v []byte) {
	if !r.Reverse {
		start := r.Prefix
		if len(r.After) > 0 && bytes.Compare(r.After, start) >= 0 {
			start = r.After
		}
		if len(start) == 0 {
			return c.First()
		}
		if k, v = c.Seek(start); k != nil && bytes.Equal(k, r.After) {
			return c.Next()
		}
		return k, v
	}
	end := upperBound(r.Prefix)
	if len(r.Before) > 0 && (end == nil || bytes.Compare(r.Before, end) < 0) {
		end = r.Before
	}
	if end == nil {
		return c.Last()
	}
	if k, _ = c.Seek(end); k == nil {
		return c.Last() // every key is smaller than end
	}
	return c.Prev()
}

func (r Range) holds(k []byte) bool {
	return bytes.HasPrefix(k, r.Prefix) &&
		(len(r.Before) == 0 || bytes.Compare(k, r.Before) < 0) &&
		(len(r.After) == 0 || bytes.Compare(k, r.After) > 0)
}

// upperBound is the smallest key greater than every key with the prefix; nil
// when there is none.
func upperBound(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return end[:i+1]
		}
	}
	return nil
}
