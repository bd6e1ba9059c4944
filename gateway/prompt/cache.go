package prompt

import (
	"reflect"
	"slices"
	"sync"
)

// maxCached is how many prompts a Cache holds: some agents and channels that talk
// in turn.
const maxCached = 8

// Cache holds the prompts that were rendered last, so that one is rendered once per
// change of what goes into it. The zero value is ready; its methods may be called
// at the same time.
type Cache struct {
	mu   sync.Mutex
	last []rendered // the one that was wanted last comes first
}

type rendered struct {
	in  Input
	out Prompt
}

// Render is what Render says. Neither what it is given nor what it returns may be
// changed afterwards.
func (c *Cache) Render(in Input) Prompt {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.last, func(r rendered) bool { return reflect.DeepEqual(r.in, in) })
	var r rendered
	if i >= 0 {
		r = c.last[i]
		c.last = slices.Delete(c.last, i, i+1)
	} else {
		r = rendered{in, Render(in)}
	}
	c.last = slices.Insert(c.last, 0, r)
	if len(c.last) > maxCached {
		c.last = slices.Delete(c.last, maxCached, len(c.last))
	}
	return r.out
}
