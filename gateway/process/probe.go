package process

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// probing bounds a try of Pins.
const probing = 10 * time.Second

// Pins reports whether Spec.Pin can be kept here. It is tried, until there is an
// answer, with a script that is exchanged: what a kernel, a container and its rules
// allow together is known in no other way.
func (k *Keeper) Pins(ctx context.Context) bool {
	if runtime.GOOS != "linux" {
		return false
	}
	k.pins.Lock()
	defer k.pins.Unlock()
	if k.pinned == nil {
		trial, cancel := context.WithTimeout(ctx, probing)
		defer cancel()
		ok := k.tryPins(trial)
		if trial.Err() != nil {
			return ok // says nothing about the system, which may only be busy
		}
		k.pinned = &ok
	}
	return *k.pinned
}

func (k *Keeper) tryPins(ctx context.Context) bool {
	dir, err := os.MkdirTemp("", "hearth-try-")
	if err != nil {
		return false
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return false
	}
	script := filepath.Join(dir, "try")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho exchanged\n"), 0o700); err != nil {
		return false
	}
	c, err := k.start(ctx, Spec{
		Path: "/bin/sh", Argv: []string{"/bin/sh", "-c", "sh ./try; ./try"}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: dir, Pin: true,
		Copies: []Copy{{Path: script, Data: []byte("#!/bin/sh\necho kept\n")}},
	})
	if err != nil {
		return false
	}
	defer c.close()
	stop := context.AfterFunc(ctx, func() { c.stop(true) })
	defer stop()
	var out strings.Builder
	b := make([]byte, 4<<10)
	for n, err := 0, error(nil); err == nil && out.Len() < 4<<10; {
		n, err = c.Read(b)
		out.Write(b[:n])
	}
	c.stop(true)
	c.wait()
	// A folder for temporary files may be one where nothing starts.
	said := out.String()
	return strings.HasPrefix(said, "kept\n") && !strings.Contains(said, "exchanged") && !strings.Contains(said, "hearth:")
}
