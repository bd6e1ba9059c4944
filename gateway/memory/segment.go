package memory

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"maps"
	"slices"
	"sort"
)

// A segment in the store, numbers little-endian:
//
//	magic "HM01" · checksum of the rest · chunks · words · words of all chunks
//	per chunk: first line, lines, offset, bytes, words, hash
//	per word: where its entry begins
//	entries, sorted: length, word, chunks that have it, (step to the chunk, times)…
const (
	segMagic  = "HM01"
	segHeader = 4 + 4 + 4 + 4 + 4
	chunkRow  = 4 + 4 + 8 + 4 + 4 + hashBytes
	// segChunks and segPostings end a segment.
	segChunks   = 256
	segPostings = 200_000
	// maxTermBytes is how much of a word is told apart.
	maxTermBytes = 64
	maxTimes     = 255
)

// builder collects a segment.
type builder struct {
	rows     []byte
	n, total int
	count    int
	words    map[string]*posting
	times    map[string]int // of the chunk that is being added
}

type posting struct {
	count, last int
	list        []byte
}

func newBuilder() *builder {
	return &builder{words: map[string]*posting{}, times: map[string]int{}}
}

func (b *builder) full() bool { return b.n >= segChunks || b.count >= segPostings }

// add takes up a chunk; context are words that all chunks of the file have.
func (b *builder) add(c chunk, context []string) {
	clear(b.times)
	words := 0
	eachTerm(string(c.text), func(term []byte) {
		words++
		if t, ok := b.times[string(term)]; !ok || t < maxTimes {
			b.times[string(term)]++
		}
	})
	for _, w := range context {
		if b.times[w] == 0 {
			b.times[w] = 1
		}
	}
	for term, times := range b.times {
		p := b.words[term]
		if p == nil {
			p = &posting{last: -1}
			b.words[term] = p
		}
		p.list = binary.AppendUvarint(p.list, uint64(b.n-p.last))
		p.list = binary.AppendUvarint(p.list, uint64(times))
		p.last = b.n
		p.count++
		b.count++
	}
	h := c.hash()
	b.rows = binary.LittleEndian.AppendUint32(b.rows, uint32(c.from))
	b.rows = binary.LittleEndian.AppendUint32(b.rows, uint32(c.to-c.from))
	b.rows = binary.LittleEndian.AppendUint64(b.rows, uint64(c.off))
	b.rows = binary.LittleEndian.AppendUint32(b.rows, uint32(len(c.text)))
	b.rows = binary.LittleEndian.AppendUint32(b.rows, uint32(words))
	b.rows = append(b.rows, h[:]...)
	b.n++
	b.total += words
}

// encode returns the segment.
func (b *builder) encode() []byte {
	terms := slices.Sorted(maps.Keys(b.words))
	var entries []byte
	at := make([]byte, 0, 4*len(terms))
	for _, t := range terms {
		at = binary.LittleEndian.AppendUint32(at, uint32(len(entries)))
		p := b.words[t]
		entries = binary.AppendUvarint(entries, uint64(len(t)))
		entries = append(entries, t...)
		entries = binary.AppendUvarint(entries, uint64(p.count))
		entries = append(entries, p.list...)
	}
	out := make([]byte, 8, segHeader+len(b.rows)+len(at)+len(entries))
	copy(out, segMagic)
	out = binary.LittleEndian.AppendUint32(out, uint32(b.n))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(terms)))
	out = binary.LittleEndian.AppendUint32(out, uint32(b.total))
	out = append(append(append(out, b.rows...), at...), entries...)
	binary.LittleEndian.PutUint32(out[4:], crc32.Checksum(out[8:], crc32.MakeTable(crc32.Castagnoli)))
	return out
}

// segment reads an encoded one. It never reads past its end, whatever stands in
// it.
type segment struct {
	n, terms, total int
	rows, at, data  []byte
}

// openSegment looks at the header only; whole also at the checksum.
func openSegment(raw []byte, whole bool) (s segment, ok bool) {
	if len(raw) < segHeader || string(raw[:4]) != segMagic {
		return s, false
	}
	if whole && binary.LittleEndian.Uint32(raw[4:]) != crc32.Checksum(raw[8:], crc32.MakeTable(crc32.Castagnoli)) {
		return s, false
	}
	s.n, s.terms, s.total = int(binary.LittleEndian.Uint32(raw[8:])), int(binary.LittleEndian.Uint32(raw[12:])),
		int(binary.LittleEndian.Uint32(raw[16:]))
	rest := raw[segHeader:]
	if s.n > segChunks || int64(s.n)*chunkRow+int64(s.terms)*4 > int64(len(rest)) {
		return s, false
	}
	s.rows, rest = rest[:s.n*chunkRow], rest[s.n*chunkRow:]
	s.at, s.data = rest[:s.terms*4], rest[s.terms*4:]
	return s, true
}

// place is where a chunk is in its file.
type placeOf struct {
	from, to int
	off      int64
	bytes    int
	hash     [hashBytes]byte
}

func (s segment) chunk(i int) placeOf {
	r := s.rows[i*chunkRow:]
	p := placeOf{from: int(binary.LittleEndian.Uint32(r)), off: int64(binary.LittleEndian.Uint64(r[8:])),
		bytes: int(binary.LittleEndian.Uint32(r[16:]))}
	p.to = p.from + int(binary.LittleEndian.Uint32(r[4:]))
	copy(p.hash[:], r[24:])
	return p
}

// words is how many words a chunk has.
func (s segment) words(i int) int { return int(binary.LittleEndian.Uint32(s.rows[i*chunkRow+20:])) }

// entry splits the entry of a word; damaged ones are empty.
func (s segment) entry(i int) (term, rest []byte) {
	off := int64(binary.LittleEndian.Uint32(s.at[i*4:]))
	if off >= int64(len(s.data)) {
		return nil, nil
	}
	e := s.data[off:]
	n, k := binary.Uvarint(e)
	if k <= 0 || n > uint64(len(e)-k) {
		return nil, nil
	}
	return e[k : k+int(n)], e[k+int(n):]
}

// postings is where a word stands: how many chunks, and the list of them.
type postings struct {
	count int
	list  []byte
}

// find calls fn with a word's postings; with prefix with those of all words
// that begin so, up to most.
func (s segment) find(word []byte, prefix bool, most int, fn func(postings)) {
	i := sort.Search(s.terms, func(i int) bool {
		t, _ := s.entry(i)
		return bytes.Compare(t, word) >= 0
	})
	for ; i < s.terms && most > 0; i, most = i+1, most-1 {
		t, rest := s.entry(i)
		if !bytes.Equal(t, word) && (!prefix || !bytes.HasPrefix(t, word)) {
			return
		}
		if n, k := binary.Uvarint(rest); k > 0 && n <= uint64(s.n) {
			fn(postings{int(n), rest[k:]})
		}
		if !prefix {
			return
		}
	}
}

// each calls fn with the chunks of a list and how often each has the word.
func (s segment) each(p postings, fn func(chunk, times int)) {
	at, list := -1, p.list
	for range p.count {
		step, k := binary.Uvarint(list)
		if k <= 0 {
			return
		}
		times, l := binary.Uvarint(list[k:])
		if l <= 0 || step == 0 || step > uint64(s.n) {
			return
		}
		if at += int(step); at >= s.n {
			return
		}
		fn(at, int(min(times, maxTimes)))
		list = list[k+l:]
	}
}
