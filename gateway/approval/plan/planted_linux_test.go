package plan

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// iAm begins the names of images that tell who they are, see plant.
const iAm = "/I-am"

// plant writes a program of a few bytes that does one thing: it tries to execute
// "/I-am" followed by its own path, which a trace shows whatever the program was
// called through, and ends.
func plant(t testing.TB, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, elf(t, iAm+path), 0o755); err != nil {
		t.Fatal(err)
	}
}

func elf(t testing.TB, says string) []byte {
	t.Helper()
	var code []byte
	var machine uint16
	switch runtime.GOARCH {
	case "amd64":
		machine = 62
		code = []byte{
			0x48, 0x8d, 0x3d, 20, 0, 0, 0, // lea rdi, [the text behind the code]
			0x31, 0xf6, 0x31, 0xd2, // xor esi, esi; xor edx, edx
			0xb8, 59, 0, 0, 0, 0x0f, 0x05, // execve
			0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05, // exit(0)
		}
	case "arm64":
		machine = 183
		for _, op := range []uint32{
			0x10000100,                                     // adr x0, the text behind the code
			0xd2800001, 0xd2800002, 0xd2801ba8, 0xd4000001, // execve(x0, 0, 0)
			0xd2800000, 0xd2800ba8, 0xd4000001, // exit(0)
		} {
			code = binary.LittleEndian.AppendUint32(code, op)
		}
	default:
		t.Skip("no planted programs for " + runtime.GOARCH)
	}
	code = append(append(code, says...), 0)
	const base, header = 0x400000, 64 + 56
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) }
	b.Write([]byte{0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	put([]uint16{2, machine})
	put(uint32(1))
	put([]uint64{base + header, 64, 0})
	put(uint32(0))
	put([]uint16{64, 56, 1, 0, 0, 0})
	put([]uint32{1, 5}) // load, readable and executable
	size := uint64(header + len(code))
	put([]uint64{0, base, base, size, size, 4096})
	b.Write(code)
	return b.Bytes()
}
