package service

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"
)

// Tasks is Windows' task scheduler.
type Tasks struct {
	Run  Run
	User string // DOMAIN\name
}

func taskName(s Spec) string {
	if s.Name == Node {
		return "Hearth node"
	}
	return "Hearth gateway"
}

// Install registers the task and runs it.
func (m Tasks) Install(ctx context.Context, s Spec) (State, error) {
	if err := s.check(true); err != nil {
		return State{}, err
	}
	dir, err := os.MkdirTemp("", "hearth-task-")
	if err != nil {
		return State{}, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "task.xml")
	if err := os.WriteFile(file, utf16le(task(s, m.User)), 0o600); err != nil {
		return State{}, err
	}
	if _, err := m.Run(ctx, "schtasks", "/Create", "/F", "/TN", taskName(s), "/XML", file); err != nil {
		return State{}, fmt.Errorf("register the task: %w", err)
	}
	if _, err := m.Run(ctx, "schtasks", "/Run", "/TN", taskName(s)); err != nil {
		return State{}, fmt.Errorf("start the task: %w", err)
	}
	return m.Status(ctx, s)
}

// Remove ends the task and takes it away.
func (m Tasks) Remove(ctx context.Context, s Spec) (State, error) {
	st, err := m.Status(ctx, s)
	if err != nil || !st.Installed {
		return st, err
	}
	_, _ = m.Run(ctx, "schtasks", "/End", "/TN", taskName(s)) // it may not run
	if _, err := m.Run(ctx, "schtasks", "/Delete", "/F", "/TN", taskName(s)); err != nil {
		return State{}, fmt.Errorf("remove the task: %w", err)
	}
	return State{File: taskName(s)}, nil
}

// Start runs the task.
func (m Tasks) Start(ctx context.Context, s Spec) (State, error) {
	st, err := installed(ctx, m, s)
	if err != nil || st.Running {
		return st, err
	}
	if _, err := m.Run(ctx, "schtasks", "/Run", "/TN", taskName(s)); err != nil {
		return State{}, fmt.Errorf("start the task: %w", err)
	}
	return m.Status(ctx, s)
}

// Stop ends the task.
func (m Tasks) Stop(ctx context.Context, s Spec) (State, error) {
	st, err := installed(ctx, m, s)
	if err != nil || !st.Running {
		return st, err
	}
	if _, err := m.Run(ctx, "schtasks", "/End", "/TN", taskName(s)); err != nil {
		return State{}, fmt.Errorf("stop the task: %w", err)
	}
	return m.Status(ctx, s)
}

// Status looks without changing anything.
func (m Tasks) Status(ctx context.Context, s Spec) (State, error) {
	st := State{File: taskName(s)}
	said, err := m.Run(ctx, "schtasks", "/Query", "/TN", taskName(s), "/FO", "LIST")
	if err != nil {
		return st, nil // it is not there
	}
	st.Installed, st.Running = true, strings.Contains(said, "Running")
	return st, nil
}

// utf16le is what schtasks reads, with its mark.
func utf16le(s string) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return out
}
