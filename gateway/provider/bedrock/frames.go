package bedrock

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"

	"github.com/hearth-assistant/hearth/gateway/sse"
)

const (
	preludeSize = 12
	crcSize     = 4
	maxFrame    = 16 << 20
)

var errFrame = errors.New("not a frame of Amazon's event streams")

// frames cuts a body of Amazon's binary frames into records: the payload of each
// under the name of its event, as {"name":payload}. Failures become
// {"error":{"code":name,"message":…}}.
func frames(r io.Reader) iter.Seq2[sse.Event, error] {
	return func(yield func(sse.Event, error) bool) {
		var buf []byte
		for {
			frame, err := readFrame(r, &buf)
			if err != nil {
				if err != io.EOF {
					yield(sse.Event{}, err)
				}
				return
			}
			data, err := record(frame)
			if err != nil {
				yield(sse.Event{}, err)
				return
			}
			if len(data) > 0 && !yield(sse.Event{Data: data}, nil) {
				return
			}
		}
	}
}

// readFrame reads one frame without its checksums, which it checks. The bytes
// are valid until the next call.
func readFrame(r io.Reader, buf *[]byte) (frame []byte, err error) {
	var head [preludeSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err // io.EOF between frames
	}
	size := binary.BigEndian.Uint32(head[0:4])
	headers := binary.BigEndian.Uint32(head[4:8])
	if crc32.ChecksumIEEE(head[:8]) != binary.BigEndian.Uint32(head[8:12]) {
		return nil, fmt.Errorf("%w: its beginning is damaged", errFrame)
	}
	if size > maxFrame || size < preludeSize+crcSize || headers > size-preludeSize-crcSize {
		return nil, fmt.Errorf("%w: impossible size %d", errFrame, size)
	}
	if uint32(cap(*buf)) < size {
		*buf = make([]byte, size)
	}
	whole := (*buf)[:size]
	copy(whole, head[:])
	if _, err := io.ReadFull(r, whole[preludeSize:]); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	end := size - crcSize
	if crc32.ChecksumIEEE(whole[:end]) != binary.BigEndian.Uint32(whole[end:]) {
		return nil, fmt.Errorf("%w: it is damaged", errFrame)
	}
	return whole[:end], nil
}

// record is a frame as JSON.
func record(frame []byte) ([]byte, error) {
	headers := binary.BigEndian.Uint32(frame[4:8])
	named, err := readHeaders(frame[preludeSize : preludeSize+headers])
	if err != nil {
		return nil, err
	}
	payload := frame[preludeSize+headers:]
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	switch named[":message-type"] {
	case "exception":
		return failure(named[":exception-type"], payload)
	case "error":
		return failure(named[":error-code"], []byte(named[":error-message"]))
	}
	name, err := json.Marshal(named[":event-type"])
	if err != nil {
		return nil, err
	}
	out := append(append([]byte("{"), name...), ':')
	return append(append(out, payload...), '}'), nil
}

func failure(code string, payload []byte) ([]byte, error) {
	var said struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(payload, &said) != nil || said.Message == "" {
		said.Message = string(payload)
	}
	return json.Marshal(map[string]any{"error": map[string]string{"code": code, "message": said.Message}})
}

// readHeaders reads the headers that are texts; the others are skipped.
func readHeaders(b []byte) (map[string]string, error) {
	sizes := [...]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
	out := map[string]string{}
	for len(b) > 0 {
		n := int(b[0])
		if len(b) < n+2 {
			return nil, fmt.Errorf("%w: a header is cut", errFrame)
		}
		name, kind := string(b[1:1+n]), int(b[1+n])
		b = b[n+2:]
		size := 0
		switch {
		case kind == 6 || kind == 7:
			if len(b) < 2 {
				return nil, fmt.Errorf("%w: a header is cut", errFrame)
			}
			size = int(binary.BigEndian.Uint16(b))
			b = b[2:]
		case kind < len(sizes):
			size = sizes[kind]
		default:
			return nil, fmt.Errorf("%w: a header of an unknown kind", errFrame)
		}
		if len(b) < size {
			return nil, fmt.Errorf("%w: a header is cut", errFrame)
		}
		if kind == 7 {
			out[name] = string(b[:size])
		}
		b = b[size:]
	}
	return out, nil
}
