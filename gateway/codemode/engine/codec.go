package engine

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"

	"github.com/klauspost/compress/s2"

	"github.com/hearth-assistant/hearth/gateway/codemode/sourcemap"
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
	longRun       = 16
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
	Places  *sourcemap.Map   `json:"places,omitempty"`
	Lines   int              `json:"lines,omitempty"`
	Wide    string           `json:"wide,omitempty"`
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
	differ := 0
	for i := range n {
		if !inStack(i) && !base.same(i, mem[i*chunk:(i+1)*chunk]) {
			out[at+i/8] |= 1 << (i % 8)
			differ++
		}
	}
	var gathered []byte
	buf := make([]byte, s2.MaxEncodedLen(min(differ, blockChunks)*chunk))
	for _, spans := range blocks(out[at:at+(n+7)/8], n) {
		block := mem[spans[0].from*chunk : spans[0].to*chunk]
		if len(spans) > 1 {
			if gathered == nil {
				gathered = make([]byte, 0, min(differ, blockChunks)*chunk)
			}
			gathered = gathered[:0]
			for _, sp := range spans {
				gathered = append(gathered, mem[sp.from*chunk:sp.to*chunk]...)
			}
			block = gathered
		}
		enc := s2.Encode(buf, block)
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(enc))), enc...)
		if len(out)+sha256.Size > limit {
			return nil, errTooLarge
		}
	}
	if len(out)+sha256.Size > limit {
		return nil, errTooLarge
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
	rest := d.blocks
	var buf []byte
	for _, spans := range blocks(d.bitmap, len(mem)/chunk) {
		first := mem[spans[0].from*chunk : spans[0].to*chunk]
		if len(spans) == 1 {
			var err error
			if rest, err = nextBlock(rest, first); err != nil {
				return err
			}
			continue
		}
		size := 0
		for _, sp := range spans {
			size += (sp.to - sp.from) * chunk
		}
		if cap(buf) < size {
			buf = make([]byte, size)
		}
		var err error
		if rest, err = nextBlock(rest, buf[:size]); err != nil {
			return err
		}
		from := buf
		for _, sp := range spans {
			from = from[copy(mem[sp.from*chunk:sp.to*chunk], from):]
		}
	}
	if len(rest) != 0 {
		return errSnapshot
	}
	return nil
}

// span is a run of chunks that are stored.
type span struct{ from, to int }

// blocks says what is packed together: long runs alone, so that they need no
// copy, the others gathered. Both sides derive it from the bitmap. Chunks of
// the C stack are never stored.
func blocks(bitmap []byte, n int) [][]span {
	var out [][]span
	var few []span
	size := 0
	flush := func() {
		if len(few) > 0 {
			out = append(out, few)
			few, size = nil, 0
		}
	}
	for i := 0; i < n; i++ {
		from := i
		for i < n && i-from < blockChunks && bitmap[i/8]&(1<<(i%8)) != 0 && !inStack(i) {
			i++
		}
		switch length := i - from; {
		case length == 0:
			continue
		case length >= longRun:
			out = append(out, []span{{from, i}})
		default:
			if size+length > blockChunks {
				flush()
			}
			few = append(few, span{from, i})
			size += length
		}
		i-- // the chunk that ended the run is looked at again
	}
	flush()
	return out
}

// nextBlock unpacks one block into dst and gives what follows it.
func nextBlock(b, dst []byte) (rest []byte, err error) {
	if len(b) < 4 {
		return nil, errSnapshot
	}
	n := binary.LittleEndian.Uint32(b)
	b = b[4:]
	if uint64(n) > uint64(len(b)) {
		return nil, errSnapshot
	}
	if l, err := s2.DecodedLen(b[:n]); err != nil || l != len(dst) {
		return nil, errSnapshot
	}
	got, err := s2.Decode(dst, b[:n])
	if err != nil || len(got) != len(dst) || &got[0] != &dst[0] {
		return nil, errSnapshot
	}
	return b[n:], nil
}
