package node

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"runtime"
	"testing"
)

// pixelBomb is a PNG of a few bytes that says it is w × h pixels of that depth.
func pixelBomb(t *testing.T, w, h uint32, depth byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	p := b.Bytes()
	binary.BigEndian.PutUint32(p[16:], w)
	binary.BigEndian.PutUint32(p[20:], h)
	p[24], p[25] = depth, 6 // with colours and transparency
	binary.BigEndian.PutUint32(p[29:], crc32.ChecksumIEEE(p[12:29]))
	return p
}

// TestSec_A_FILE_07_PicturesOfNodes: what a program gave as a picture is judged
// by what it would become before anything is made for it.
func TestSec_A_FILE_07_PicturesOfNodes(t *testing.T) {
	for _, c := range []struct {
		w, h  uint32
		depth byte
	}{
		{1 << 30, 1 << 30, 8}, {1<<31 - 1, 1<<31 - 1, 16}, {100_000, 100_000, 8}, {1, 1 << 30, 8}, {1 << 30, 1, 8}, {0, 5, 8}, {8192, 8192, 16},
		{7000, 9000, 16},
	} {
		bomb := pixelBomb(t, c.w, c.h, c.depth)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := encode(bomb, pictureParams{}, "png"); err == nil {
			t.Errorf("%d × %d is a picture", c.w, c.h)
		}
		runtime.ReadMemStats(&after)
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 300 {
			t.Errorf("%d × %d pixels of %d bits took %d MB", c.w, c.h, c.depth, mb)
		}
	}
	if _, err := encode(append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 1<<20)...), pictureParams{}, "png"); err == nil {
		t.Error("zeros are a picture")
	}
}
