package statedir

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Random reads a private file with a random secret of n bytes in hex, making it
// on first use.
func Random(path string, n int) (string, error) {
	b, err := os.ReadFile(path)
	if err == nil {
		s := strings.TrimSpace(string(b))
		if len(s) < 16 {
			return "", fmt.Errorf("%s is too short to be a secret", path)
		}
		return s, os.Chmod(path, 0o600)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	s := hex.EncodeToString(raw)
	return s, WriteFile(path, []byte(s+"\n"))
}

// Key is Random as the bytes that it stands for.
func Key(path string, n int) ([]byte, error) {
	text, err := Random(path, n)
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return key, nil
}
