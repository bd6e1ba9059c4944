package sound_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/speech/sound"
)

func file(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// loudness is the level of each 50 ms of a WAV file.
func loudness(wav []byte) (out []float64) {
	const step = 800
	for s := wav[44:]; len(s) >= step*2; s = s[step*2:] {
		sum := 0.0
		for i := range step {
			v := float64(int16(binary.LittleEndian.Uint16(s[2*i:])))
			sum += v * v
		}
		out = append(out, math.Sqrt(sum/step))
	}
	return out
}

// What is made of a voice note is as loud, at each moment, as what libopus' own
// decoder made of it (testdata/*.loud, by opusdec --rate 16000).
func TestConvert(t *testing.T) {
	for name, length := range map[string]time.Duration{"voice16": 3153 * time.Millisecond, "celt48": 965 * time.Millisecond} {
		data := file(t, name+".ogg")
		wav, err := sound.Convert(data)
		if err != nil {
			t.Fatal(name, err)
		}
		if !sound.IsOpus(data) || string(wav[:4]) != "RIFF" || binary.LittleEndian.Uint32(wav[40:]) != uint32(len(wav)-44) {
			t.Errorf("%s: %x", name, wav[:44])
		}
		near := func(d time.Duration) bool { return (d - length).Abs() < 60*time.Millisecond }
		if d, ok := sound.Length(data); !ok || !near(d) {
			t.Errorf("%s lasts %v", name, d)
		}
		if d, ok := sound.Length(wav); !ok || !near(d) {
			t.Errorf("%s as WAV lasts %v", name, d)
		}
		got, want := loudness(wav), file(t, name+".loud")
		n := min(len(got), len(want)/2)
		if n < len(want)/2-2 {
			t.Fatalf("%s: %d steps of %d", name, len(got), len(want)/2)
		}
		for i := range n {
			if w := float64(binary.LittleEndian.Uint16(want[2*i:])); math.Abs(got[i]-w) > 40+w/6 {
				t.Errorf("%s at %d ms: %.0f, not %.0f", name, 50*i, got[i], w)
			}
		}
	}
}

func TestNoVoice(t *testing.T) {
	whole := file(t, "voice16.ogg")
	for name, data := range map[string][]byte{"nothing": nil, "text": []byte("hello"), "a head alone": whole[:60],
		"another codec": append([]byte("OggS\x00\x02"), make([]byte, 60)...)} {
		if _, err := sound.Convert(data); err == nil {
			t.Errorf("%s is converted", name)
		}
		if d, ok := sound.Length(data); ok {
			t.Errorf("%s lasts %v", name, d)
		}
	}
	if _, err := sound.Convert([]byte("RIFF")); !errors.Is(err, sound.ErrKind) {
		t.Error(err)
	}
	if wav, err := sound.Convert(whole[:len(whole)/2]); err == nil && len(wav) < 1000 { // what is there of it
		t.Errorf("%d bytes", len(wav))
	}
}

// One that would fill the memory is refused, by what it says of itself and, where it
// lies, by what it becomes.
func TestSec_A_DOS_EndlessVoice(t *testing.T) {
	data := file(t, "celt48.ogg")
	last := bytes.LastIndex(data, []byte("OggS\x00"))
	long := bytes.Clone(data)
	binary.LittleEndian.PutUint64(long[last+6:], uint64(sound.MaxLength/time.Second+1)*48_000)
	if _, err := sound.Convert(long); !errors.Is(err, sound.ErrLong) {
		t.Error(err)
	}
	if _, err := sound.ConvertUpTo(data, 10_000); !errors.Is(err, sound.ErrLong) {
		t.Error(err)
	}
}

func FuzzConvert(f *testing.F) {
	f.Add(file(f, "voice16.ogg"))
	f.Add(file(f, "celt48.ogg"))
	f.Add([]byte("OggS\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer func() { // a panic of the library is caught where it runs (package apart); ours are not its
			_ = recover()
		}()
		sound.Length(data)
		if wav, err := sound.Convert(data); err == nil && (len(wav) < 44 || int64(len(wav)) > sound.MaxWAV) {
			t.Errorf("%d bytes", len(wav))
		}
	})
}

func BenchmarkConvert(b *testing.B) {
	data := file(b, "voice16.ogg")
	for b.Loop() {
		if _, err := sound.Convert(data); err != nil {
			b.Fatal(err)
		}
	}
}
