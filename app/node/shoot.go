package node

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// fileArg stands in arguments for the file that a program writes a picture to.
const fileArg = "@file"

// shoot runs a program that takes a picture, and returns that. inEnv: the file
// is told as HEARTH_FILE.
func (h *Host) shoot(ctx context.Context, path string, args []string, inEnv ...bool) ([]byte, error) {
	toEnv := len(inEnv) > 0 && inEnv[0]
	if !toEnv && !slices.Contains(args, fileArg) {
		return h.ask(ctx, path, args)
	}
	dir, err := os.MkdirTemp("", "hearth-picture-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the picture: %w", err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "picture.png")
	args = slices.Clone(args)
	var env []string
	if toEnv {
		env = []string{"HEARTH_FILE=" + name}
	} else {
		args[slices.Index(args, fileArg)] = name
	}
	if _, err := h.ask(ctx, path, args, env...); err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s took no picture: %w", filepath.Base(path), err)
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, toolOutput))
}
