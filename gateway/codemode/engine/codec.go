package engine

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/bits"

	"github.com/klauspost/compress/s2"
)

// A snapshot is a header, what the host knows of the cell as JSON, the chunks
// in which the memory differs from the boot image, and a MAC over all of it
// and over the scope:
//
//	"HCM1" | engine id (32) | memory size u32 | length of the JSON u32 | JSON
//	| one bit a chunk | blocks: length u32, s2 of up to blockChunks chunks | MAC (32)
const (
	snapshotMagic = "HCM1"
	headerSize    = len(snapshotMagic) + sha256.Size + 8
	blockChunks   = 256 // 1 MiB at a time, so that neither side holds a second memory
	maxHostState  = 32 << 20
)

var (
	errSnapshot = errors.New("the snapshot is damaged, or from somewhere else")
	errTooLarge = errors.New("the snapshot is larger than allowed")
)

// hostState is what a cell has outside its memory.
type hostState struct {
	LastID  int64            `json:"last"`
	Pending map[int64]string `json:"pending"`
	Told    []Code           `json:"told,omitempty"`
	Outcome *outcome         `json:"outcome,omitempty"`
}

type sealer struct {
	key []byte
	id  [sha256.Size]byte
}

func (s sealer) mac(scope string, body []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(scope)))
	h.Write(n[:])
	h.Write([]byte(scope))
	h.Write(body)
	return h.Sum(nil)
}

// encode fails with errTooLarge as soon as the snapshot passes limit.
func (s sealer) encode(mem []byte, base *image, st hostState, scope string, limit int) ([]byte, error) {
	js, err := json.Marshal(st)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, headerSize+len(js)+64<<10)
	out = append(append(out, snapshotMagic...), s.id[:]...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(mem)))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(js)))
	out = append(out, js...)
	n := len(mem) / chunk
	at := len(out)
	out = append(out, make([]byte, (n+7)/8)...)
	block := make([]byte, 0, blockChunks*chunk)
	buf := make([]byte, s2.MaxEncodedLen(blockChunks*chunk))
	for i := range n {
		if p := mem[i*chunk : (i+1)*chunk]; !inStack(i) && !base.same(i, p) {
			out[at+i/8] |= 1 << (i % 8)
			block = append(block, p...)
		}
		if len(block) == cap(block) || i == n-1 && len(block) > 0 {
			enc := s2.Encode(buf, block)
			out = append(binary.LittleEndian.AppendUint32(out, uint32(len(enc))), enc...)
			block = block[:0]
		}
		if len(out)+sha256.Size > limit {
			return nil, errTooLarge
		}
	}
	return append(out, s.mac(scope, out)...), nil
}

// decoded is a snapshot whose seal and sizes hold; its memory is still packed.
type decoded struct {
	size   uint32
	state  hostState
	bitmap []byte
	blocks []byte
}

// decode checks the seal before it looks at anything, and every size before
// it makes room for it.
func (s sealer) decode(b []byte, scope string, maxSize uint64) (*decoded, error) {
	if len(b) < headerSize+sha256.Size {
		return nil, errSnapshot
	}
	body, tag := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if !hmac.Equal(tag, s.mac(scope, body)) {
		return nil, errSnapshot
	}
	return s.parse(body, maxSize)
}

// parse reads what stands under the seal. It trusts none of it either.
func (s sealer) parse(body []byte, maxSize uint64) (*decoded, error) {
	if len(body) < headerSize || string(body[:len(snapshotMagic)]) != snapshotMagic ||
		!bytes.Equal(body[len(snapshotMagic):headerSize-8], s.id[:]) {
		return nil, errSnapshot
	}
	d := &decoded{size: binary.LittleEndian.Uint32(body[headerSize-8:])}
	js := binary.LittleEndian.Uint32(body[headerSize-4:])
	rest := body[headerSize:]
	if d.size < stackHigh || d.size%pageSize != 0 || uint64(d.size) > maxSize ||
		js > maxHostState || uint64(js) > uint64(len(rest)) {
		return nil, errSnapshot
	}
	if json.Unmarshal(rest[:js], &d.state) != nil || !d.state.sound() {
		return nil, errSnapshot
	}
	rest = rest[js:]
	n := int(d.size/chunk+7) / 8
	if len(rest) < n {
		return nil, errSnapshot
	}
	d.bitmap, d.blocks = rest[:n], rest[n:]
	return d, nil
}

func (st hostState) sound() bool {
	for id, method := range st.Pending {
		if id < 1 || id > st.LastID || method == "" {
			return false
		}
	}
	return len(st.Pending) > 0 && (st.Outcome == nil || st.Outcome.Error == nil)
}

// unpack writes the stored chunks over mem, which holds the boot image.
func (d *decoded) unpack(mem []byte) error {
	left := 0
	for _, b := range d.bitmap {
		left += bits.OnesCount8(b)
	}
	rest, buf := d.blocks, make([]byte, min(left, blockChunks)*chunk)
	var block []byte
	for i := range len(mem) / chunk {
		if d.bitmap[i/8]&(1<<(i%8)) == 0 {
			continue
		}
		if len(block) == 0 {
			var err error
			if block, rest, err = nextBlock(rest, buf, min(left, blockChunks)*chunk); err != nil {
				return err
			}
		}
		copy(mem[i*chunk:], block[:chunk])
		block = block[chunk:]
		left--
	}
	if left != 0 || len(rest) != 0 {
		return errSnapshot
	}
	return nil
}

func nextBlock(b, buf []byte, want int) (block, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errSnapshot
	}
	n := binary.LittleEndian.Uint32(b)
	b = b[4:]
	if uint64(n) > uint64(len(b)) {
		return nil, nil, errSnapshot
	}
	if l, err := s2.DecodedLen(b[:n]); err != nil || l != want {
		return nil, nil, errSnapshot
	}
	block, err = s2.Decode(buf, b[:n])
	if err != nil {
		return nil, nil, errSnapshot
	}
	return block, b[n:], nil
}
