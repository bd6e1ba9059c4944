package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/process"
)

// desk are the variables by which programs of the desktop find it.
var desk = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR",
	"XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "DBUS_SESSION_BUS_ADDRESS",
	"SystemRoot", "SystemDrive", "TEMP", "TMP", "LOCALAPPDATA", "APPDATA", "USERPROFILE", "ProgramFiles", "WEBKIT_DISABLE_DMABUF_RENDERER"}

// env looks up a variable of this process.
func (h *Host) env(name string) string {
	for _, kv := range slices.Backward(h.o.Environ) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// deskEnv is what a program of the desktop gets, and more.
func (h *Host) deskEnv(more ...string) []string {
	var out []string
	for _, name := range desk {
		if v := h.env(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return append(out, more...)
}

const (
	toolTime   = 20 * time.Second
	toolOutput = 64 << 20
)

// ask runs a fixed program of the system, by its arguments, and returns what it
// printed. It is given a folder of its own, which is then gone.
func (h *Host) ask(ctx context.Context, path string, args []string, env ...string) ([]byte, error) {
	temp, err := os.MkdirTemp("", "hearth-node-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		_ = os.RemoveAll(temp)
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer out.Close()
	if temp, err = filepath.EvalSymlinks(temp); err != nil {
		_ = w.Close()
		return nil, err
	}
	proc, err := h.keeper.Start(ctx, process.Spec{
		Owner: owner, Title: filepath.Base(path), Path: path, Argv: append([]string{path}, args...),
		Env: h.deskEnv(append(env, "TMPDIR="+temp)...), Dir: temp, Temp: temp, Timeout: toolTime, Stdout: w,
	})
	_ = w.Close()
	if err != nil {
		_ = os.RemoveAll(temp)
		return nil, err
	}
	said := make(chan ends, 1)
	go func() { said <- readEnds(out, 2*toolOutput, func([]byte) {}) }()
	select {
	case <-proc.Done():
	case <-ctx.Done():
		proc.Stop()
		<-proc.Done()
	}
	got := <-said
	x, kept := proc.Info().Exit, proc.Output()
	_ = h.keeper.Remove(owner, proc.ID())
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case x.TimedOut:
		return nil, fmt.Errorf("%s did not end in %s", filepath.Base(path), toolTime)
	case !x.OK():
		return nil, fmt.Errorf("%s failed: %s", filepath.Base(path), firstLine(string(kept.Head)))
	case got.dropped > 0 || len(got.tail) > 0:
		return nil, fmt.Errorf("%s printed more than %d MB", filepath.Base(path), toolOutput>>20)
	}
	return got.head, nil
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(strings.ToValidUTF8(s, "")), "\n")
	if len(s) > 300 {
		s = s[:300]
	}
	if s == "" {
		return "it did not say why"
	}
	return s
}
