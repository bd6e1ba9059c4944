// Package beside finds and starts the programs that were installed next to the one that
// runs: hearth, hearth-tray and hearth-window lie in one folder. It looks
// nowhere else, so that a search path of somebody else's has no say.
package beside

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Self is the file of the program that runs. Links are followed: a link in a
// folder of programs does not lie beside the others.
func Self() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program's own file: %w", err)
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	return exe, nil
}

// Path is where the program called name lies, or would.
func Path(name string) (string, error) {
	exe, err := Self()
	if err != nil {
		return "", err
	}
	return in(filepath.Dir(exe), name, runtime.GOOS), nil
}

// Find is the path of an installed program; ok is false where it is not there.
func Find(name string) (path string, ok bool) {
	path, err := Path(name)
	if err != nil {
		return "", false
	}
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular()
}

// ErrMissing: the program is not where it was installed.
var ErrMissing = errors.New("it is not beside this program; install Hearth again")

// Start starts a program that goes on when this one ends.
func Start(name string, args ...string) error {
	path, ok := Find(name)
	if !ok {
		return fmt.Errorf("start %s: %w", name, ErrMissing)
	}
	cmd := exec.Command(path, args...)
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	return cmd.Process.Release()
}

// Run runs a program to its end and returns what it said.
func Run(ctx context.Context, input, name string, args ...string) (said string, err error) {
	path, ok := Find(name)
	if !ok {
		return "", fmt.Errorf("run %s: %w", name, ErrMissing)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	hide(cmd)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func in(dir, name, system string) string {
	if system == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}
