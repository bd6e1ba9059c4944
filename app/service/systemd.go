package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Systemd is the user's systemd, on Linux.
type Systemd struct {
	Run Run
	// ConfigHome is $XDG_CONFIG_HOME; empty: ~/.config.
	ConfigHome string
}

func (m Systemd) file(s Spec) string {
	dir := m.ConfigHome
	if dir == "" {
		dir = filepath.Join(s.Home, ".config")
	}
	return filepath.Join(dir, "systemd", "user", s.Name+".service")
}

// Install writes the unit, and has it started now and with every session.
func (m Systemd) Install(ctx context.Context, s Spec) (State, error) {
	if err := m.there(ctx, s); err != nil {
		return State{}, err
	}
	if err := s.check(false); err != nil {
		return State{}, err
	}
	if strings.ContainsAny(s.Exe, "\"'\\\n") {
		return State{}, fmt.Errorf("systemd starts no program whose path holds quotes or backslashes (%s); move Hearth to another folder", s.Exe)
	}
	file := m.file(s)
	if err := write(file, unit(s)); err != nil {
		return State{}, err
	}
	if _, err := m.Run(ctx, "systemctl", "--user", "daemon-reload"); err != nil {
		return State{}, fmt.Errorf("have the unit read: %w", err)
	}
	if _, err := m.Run(ctx, "systemctl", "--user", "enable", "--now", s.Name+".service"); err != nil {
		return State{}, fmt.Errorf("start the service: %w", err)
	}
	st, err := m.Status(ctx, s)
	st.Words = "It runs while you are logged in. To have it run from the start of the machine: loginctl enable-linger"
	return st, err
}

// Remove stops the service and takes its unit away.
func (m Systemd) Remove(ctx context.Context, s Spec) (State, error) {
	file := m.file(s)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return State{File: file}, nil
	}
	if err := m.there(ctx, s); err == nil {
		if _, err := m.Run(ctx, "systemctl", "--user", "disable", "--now", s.Name+".service"); err != nil {
			return State{}, fmt.Errorf("stop the service: %w", err)
		}
	}
	if err := os.Remove(file); err != nil {
		return State{}, fmt.Errorf("remove the unit: %w", err)
	}
	_, _ = m.Run(ctx, "systemctl", "--user", "daemon-reload") // it forgets by itself at the next start
	return State{File: file}, nil
}

// Start has the unit started.
func (m Systemd) Start(ctx context.Context, s Spec) (State, error) { return m.tell(ctx, s, "start") }

// Stop has the unit stopped, and waits until it is.
func (m Systemd) Stop(ctx context.Context, s Spec) (State, error) { return m.tell(ctx, s, "stop") }

func (m Systemd) tell(ctx context.Context, s Spec, what string) (State, error) {
	if _, err := installed(ctx, m, s); err != nil {
		return State{}, err
	}
	if err := m.there(ctx, s); err != nil {
		return State{}, err
	}
	if _, err := m.Run(ctx, "systemctl", "--user", what, s.Name+".service"); err != nil {
		return State{}, fmt.Errorf("%s the service: %w", what, err)
	}
	return m.Status(ctx, s)
}

// Status looks without changing anything.
func (m Systemd) Status(ctx context.Context, s Spec) (State, error) {
	st := State{File: m.file(s)}
	if _, err := os.Lstat(st.File); err != nil {
		return st, nil
	}
	st.Installed = true
	said, _ := m.Run(ctx, "systemctl", "--user", "is-active", s.Name+".service") // it fails when it is not
	st.Running = strings.TrimSpace(said) == "active"
	return st, nil
}

// there reports whether the user's systemd answers.
func (m Systemd) there(ctx context.Context, s Spec) error {
	if _, err := m.Run(ctx, "systemctl", "--user", "show-environment"); err != nil {
		return fmt.Errorf("%w: the systemd of your session does not answer (%w). Where there is none, start hearth %s from what starts your "+
			"other programs", ErrNoManager, err, s.Args[0])
	}
	return nil
}

// write replaces a file that the system reads; folders are made.
func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make the folder for %s: %w", file, err)
	}
	// Environment variables may name private places.
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
