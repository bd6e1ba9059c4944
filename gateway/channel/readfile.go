package channel

import (
	"bytes"
	"io"
	"io/fs"
)

// ReadFile reads a file that is to be sent, whole: at most most bytes of it and one more,
// which says that it has more. Its size is asked first, so that a large file is not
// copied again and again while it grows.
func ReadFile(f fs.File, most int64) ([]byte, error) {
	size := int64(0)
	if info, err := f.Stat(); err == nil {
		size = max(0, min(info.Size(), most+1))
	}
	var b bytes.Buffer
	b.Grow(int(size) + bytes.MinRead) // of which the last read finds the end
	_, err := b.ReadFrom(io.LimitReader(f, most+1))
	return b.Bytes(), err
}
