package process

import (
	"fmt"
	"os"
)

// sealed puts bytes where nobody finds them to change them.
func sealed(data []byte) (*os.File, error) {
	f, err := os.CreateTemp("", ".hearth-copy-")
	if err != nil {
		return nil, fmt.Errorf("keep a copy of a script: %w", err)
	}
	err = os.Remove(f.Name())
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("keep a copy of a script: %w", err)
	}
	return f, nil
}

func bindCopies(j *job) error {
	if len(j.Copies) == 0 {
		return nil
	}
	return substitute(j, "/dev/fd/")
}
