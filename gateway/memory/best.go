package memory

import (
	"cmp"
	"container/heap"
	"slices"
)

// best keeps the highest scores: a heap with the lowest of them on top.
type best struct {
	want int
	list []rank
}

func (b *best) Len() int           { return len(b.list) }
func (b *best) Less(i, j int) bool { return worse(b.list[i], b.list[j]) }
func (b *best) Swap(i, j int)      { b.list[i], b.list[j] = b.list[j], b.list[i] }
func (b *best) Push(v any)         { b.list = append(b.list, v.(rank)) }
func (b *best) Pop() any {
	v := b.list[len(b.list)-1]
	b.list = b.list[:len(b.list)-1]
	return v
}

// worse orders by score; of equals the earlier chunk is better.
func worse(a, b rank) bool {
	return a.score < b.score || a.score == b.score && a.chunk > b.chunk
}

func (b *best) add(r rank) {
	switch {
	case len(b.list) < b.want:
		heap.Push(b, r)
	case worse(b.list[0], r):
		b.list[0] = r
		heap.Fix(b, 0)
	}
}

// sorted returns what was kept, the best first.
func (b *best) sorted() []rank {
	slices.SortFunc(b.list, func(x, y rank) int { return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.chunk, y.chunk)) })
	return b.list
}
