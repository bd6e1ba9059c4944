package node

import (
	"os"
	"path/filepath"
	"strings"
)

// videoClass is where the kernel lists cameras; deviceFolder has their files.
const (
	videoClass   = "/sys/class/video4linux"
	deviceFolder = "/dev"
)

// cameras reads the kernel's list. A camera has several entries; the first is
// the one that takes pictures.
func cameras(*Host) ([]camera, error) {
	entries, err := os.ReadDir(videoClass)
	if err != nil {
		return nil, nil // no driver of cameras is loaded
	}
	var out []camera
	for _, e := range entries {
		dir := filepath.Join(videoClass, e.Name())
		if index, err := os.ReadFile(filepath.Join(dir, "index")); err != nil || strings.TrimSpace(string(index)) != "0" {
			continue
		}
		name, err := os.ReadFile(filepath.Join(dir, "name"))
		if err != nil {
			continue
		}
		out = append(out, camera{filepath.Join(deviceFolder, e.Name()), strings.TrimSpace(string(name)), "unspecified", "external"})
	}
	return out, nil
}

func cameraInput(c camera) []string { return []string{"-f", "v4l2", "-i", c.ID} }
