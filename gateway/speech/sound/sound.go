// Package sound looks at sounds that people send: how long one lasts, and the Opus
// of voice notes as WAV for programs that read nothing else. All of it is what
// strangers made: Convert is a job for package apart. What is said in a sound is not
// its business.
package sound

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/pion/opus"
)

// Job is what package apart calls Convert.
const Job = "sound"

// MaxLength is how much of a sound is converted.
const MaxLength = 30 * time.Minute

// MaxWAV bounds what Convert makes, in bytes.
const MaxWAV = wavHead + int64(MaxLength/time.Second)*rate*2

const (
	rate     = 16_000 // what recognizers of speech want
	opusRate = 48_000 // in which Ogg counts Opus, whatever it holds
	wavHead  = 44
	// packetMax is how many samples a packet can have: 120 ms.
	packetMax = rate * 120 / 1000
)

// Errors that Convert answers with.
var (
	ErrKind = errors.New("it is no Opus in an Ogg file")
	ErrLong = fmt.Errorf("it lasts longer than %d minutes", MaxLength/time.Minute)
)

// IsOpus reports whether data is a voice note as networks send them.
func IsOpus(data []byte) bool {
	p, _, ok := nextPage(data)
	return ok && bytes.HasPrefix(data, []byte("OggS")) && bytes.HasPrefix(p.body, []byte("OpusHead"))
}

// Length is how long a sound lasts, by its own word; false when that cannot be told.
func Length(data []byte) (time.Duration, bool) {
	if d, ok := wavLength(data); ok {
		return d, true
	}
	first, rest, ok := nextPage(data)
	if !ok || !bytes.HasPrefix(first.body, []byte("OpusHead")) || len(first.body) < 19 {
		return 0, false
	}
	skip := uint64(binary.LittleEndian.Uint16(first.body[10:]))
	var last uint64
	for {
		p, more, ok := nextPage(rest)
		if !ok {
			break
		}
		if p.serial == first.serial && p.at != noPosition {
			last = max(last, p.at)
		}
		rest = more
	}
	if last <= skip || last > uint64((24*time.Hour/time.Second)*opusRate) {
		return 0, false
	}
	return time.Duration(last-skip) * time.Second / opusRate, true
}

// wavLength reads the head of a WAV file.
func wavLength(data []byte) (time.Duration, bool) {
	if len(data) < wavHead || string(data[:4]) != "RIFF" || string(data[8:16]) != "WAVEfmt " {
		return 0, false
	}
	perSecond := binary.LittleEndian.Uint32(data[28:])
	if perSecond == 0 {
		return 0, false
	}
	d := time.Duration(float64(len(data)-wavHead) / float64(perSecond) * float64(time.Second))
	return d, d > 0 && d < 24*time.Hour
}

// Convert makes WAV of Opus: 16,000 samples a second, one channel, 16 bits.
func Convert(in []byte) ([]byte, error) { return convert(in, MaxWAV) }

func convert(in []byte, most int64) ([]byte, error) {
	first, _, ok := nextPage(in)
	if !ok || !bytes.HasPrefix(first.body, []byte("OpusHead")) || len(first.body) < 19 {
		return nil, ErrKind
	}
	if d, ok := Length(in); ok && d > MaxLength {
		return nil, ErrLong
	}
	skip := int(binary.LittleEndian.Uint16(first.body[10:])) * rate / opusRate
	dec, err := opus.NewDecoderWithOutput(rate, 1)
	if err != nil {
		return nil, fmt.Errorf("decode Opus: %w", err)
	}
	out := make([]byte, wavHead, wavHead+1<<20)
	samples := make([]int16, packetMax)
	good, bad := 0, 0
	for packet := range packets(in, first.serial) {
		if bytes.HasPrefix(packet, []byte("OpusHead")) || bytes.HasPrefix(packet, []byte("OpusTags")) || len(packet) == 0 {
			continue
		}
		n, err := dec.DecodeToInt16(packet, samples)
		if err != nil || n < 0 || n > len(samples) {
			bad++
			continue
		}
		good++
		from := min(skip, n)
		skip -= from
		for _, s := range samples[from:n] {
			out = binary.LittleEndian.AppendUint16(out, uint16(s))
		}
		if int64(len(out)) > most {
			return nil, ErrLong
		}
	}
	if good == 0 || bad > good {
		return nil, errors.New("its sound is damaged")
	}
	writeHead(out)
	return out, nil
}

// writeHead makes the first bytes of out the head of a WAV file.
func writeHead(out []byte) {
	le := binary.LittleEndian
	size := uint32(len(out) - wavHead)
	copy(out, "RIFF")
	le.PutUint32(out[4:], size+wavHead-8)
	copy(out[8:], "WAVEfmt ")
	le.PutUint32(out[16:], 16)
	le.PutUint16(out[20:], 1) // PCM
	le.PutUint16(out[22:], 1)
	le.PutUint32(out[24:], rate)
	le.PutUint32(out[28:], rate*2)
	le.PutUint16(out[32:], 2)
	le.PutUint16(out[34:], 16)
	copy(out[36:], "data")
	le.PutUint32(out[40:], size)
}
