package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// same is the last look at a file that cannot be pinned.
func same(path string, want []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("look at a script once more: %w", err)
	}
	defer func() { _ = f.Close() }()
	got, err := io.ReadAll(io.LimitReader(f, int64(len(want))+1))
	if err != nil {
		return fmt.Errorf("look at a script once more: %w", err)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s is no longer what was approved; ask again", path)
	}
	return nil
}
