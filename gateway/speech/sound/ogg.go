package sound

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
)

// noPosition: no packet ends on the page.
const noPosition = math.MaxUint64

const (
	pageHead  = 27
	packetCap = 64 << 10 // an Opus packet is at most 61,440 bytes
)

// page is one of an Ogg file.
type page struct {
	serial uint32
	at     uint64 // the position after it
	goesOn bool   // its first packet began on the page before
	sizes  []byte
	body   []byte
}

// nextPage is the first page of data and what follows it. Rubbish before it is
// passed over.
func nextPage(data []byte) (p page, rest []byte, ok bool) {
	i := bytes.Index(data, []byte("OggS\x00"))
	if i < 0 || len(data)-i < pageHead {
		return page{}, nil, false
	}
	data = data[i:]
	segments := int(data[26])
	if len(data) < pageHead+segments {
		return page{}, nil, false
	}
	p.sizes = data[pageHead : pageHead+segments]
	size := 0
	for _, s := range p.sizes {
		size += int(s)
	}
	body := data[pageHead+segments:]
	if len(body) < size { // cut short: what is there is not trusted
		return page{}, nil, false
	}
	p.body, rest = body[:size], body[size:]
	p.goesOn = data[5]&1 != 0
	p.at, p.serial = binary.LittleEndian.Uint64(data[6:]), binary.LittleEndian.Uint32(data[14:])
	return p, rest, true
}

// packets are those of one stream, in order.
func packets(data []byte, serial uint32) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var part []byte
		for {
			p, rest, ok := nextPage(data)
			if !ok {
				return
			}
			data = rest
			if p.serial != serial {
				continue
			}
			if !p.goesOn {
				part = nil
			}
			for _, s := range p.sizes {
				if part = append(part, p.body[:s]...); len(part) > packetCap {
					part = part[:packetCap]
				}
				p.body = p.body[s:]
				if s == math.MaxUint8 { // it goes on
					continue
				}
				if !yield(part) {
					return
				}
				part = nil
			}
		}
	}
}
