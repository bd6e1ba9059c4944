package gatewaytest

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// Pixels is a picture, as PNG.
func Pixels(t *testing.T, side int) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(Picture(t, side))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Picture is one as clients send it: PNG in base64.
func Picture(t *testing.T, side int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, side, side))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// PutFile writes a file, with the folders that it needs.
func PutFile(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	full := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return full
}

// PutSkill writes a skill.
func PutSkill(t *testing.T, dir, name, more string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "---\nname: " + name + "\ndescription: about " + name + "\n" + more + "---\nDo it.\n"
	if err := os.WriteFile(filepath.Join(dir, name, "SKILL.md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
