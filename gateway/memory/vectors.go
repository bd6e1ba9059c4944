package memory

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// A row of vectors belongs to a segment: the dimensions, then per chunk its
// length after rounding (a float32, 0 = it has none yet) and one signed byte a
// dimension. Beside it stands a row of signs: per chunk one bit a dimension.
// Signs are compared first, which is fast; the best of them then by their bytes.

const vectorHead = 4

// maxDims is more than any model makes.
const maxDims = 8192

type vectorRow struct {
	raw  []byte
	dims int
}

func newVectorRow(n, dims int) vectorRow {
	raw := make([]byte, vectorHead+n*(4+dims))
	binary.LittleEndian.PutUint32(raw, uint32(dims))
	return vectorRow{raw, dims}
}

// openVectors reads a row; ok is false when it is not one of n chunks.
func openVectors(raw []byte, n int) (r vectorRow, ok bool) {
	if len(raw) < vectorHead {
		return r, false
	}
	r = vectorRow{raw, int(binary.LittleEndian.Uint32(raw))}
	return r, r.dims > 0 && r.dims <= maxDims && len(raw) == vectorHead+n*(4+r.dims)
}

func (r vectorRow) at(i int) []byte {
	return r.raw[vectorHead+i*(4+r.dims) : vectorHead+(i+1)*(4+r.dims)]
}

func (r vectorRow) has(i int) bool { return binary.LittleEndian.Uint32(r.at(i)) != 0 }

// set rounds a vector into the row.
func (r vectorRow) set(i int, v []float32) {
	var top float64
	for _, f := range v {
		top = max(top, math.Abs(float64(f)))
	}
	row := r.at(i)
	if top == 0 || math.IsNaN(top) || math.IsInf(top, 0) {
		row[4] = 1 // it has no direction; one that is as good as any, so that it is not asked for again
		binary.LittleEndian.PutUint32(row, math.Float32bits(1))
		return
	}
	var sum int
	for j, f := range v {
		n := int(math.Round(float64(f) / top * 127))
		row[4+j] = byte(int8(n))
		sum += n * n
	}
	binary.LittleEndian.PutUint32(row, math.Float32bits(float32(math.Sqrt(float64(sum)))))
}

// signs is the row of signs of n chunks.
func (r vectorRow) signs(n int) []byte {
	words := signWords(r.dims)
	out := make([]byte, n*words*8)
	for i := range n {
		row := r.at(i)[4:]
		for j, b := range row {
			if int8(b) > 0 {
				k := i*words + j/64
				binary.LittleEndian.PutUint64(out[k*8:], binary.LittleEndian.Uint64(out[k*8:])|1<<(j%64))
			}
		}
	}
	return out
}

func signWords(dims int) int { return (dims + 63) / 64 }

// question is a vector that is looked for.
type question struct {
	bytes  []int8
	length float64
	signs  []uint64
}

func newQuestion(v []float32) question {
	r := newVectorRow(1, len(v))
	r.set(0, v)
	q := question{bytes: make([]int8, len(v)), length: float64(math.Float32frombits(binary.LittleEndian.Uint32(r.at(0)))),
		signs: make([]uint64, signWords(len(v)))}
	for j, b := range r.at(0)[4:] {
		q.bytes[j] = int8(b)
	}
	s := r.signs(1)
	for k := range q.signs {
		q.signs[k] = binary.LittleEndian.Uint64(s[k*8:])
	}
	return q
}

// cosine compares with chunk i; what has no vector is no match.
func (q question) cosine(r vectorRow, i int) float64 {
	row := r.at(i)
	length := float64(math.Float32frombits(binary.LittleEndian.Uint32(row)))
	if length == 0 || q.length == 0 || len(row)-4 != len(q.bytes) {
		return -1
	}
	var dot int32
	for j, b := range row[4:] {
		dot += int32(int8(b)) * int32(q.bytes[j])
	}
	return float64(dot) / (length * q.length)
}

// distance is how many signs differ.
func (q question) distance(signs []byte) int {
	d := 0
	for k, w := range q.signs {
		d += bits.OnesCount64(w ^ binary.LittleEndian.Uint64(signs[k*8:]))
	}
	return d
}
