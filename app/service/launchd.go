package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Launchd is macOS's.
type Launchd struct {
	Run Run
	UID int
}

func (m Launchd) file(s Spec) string {
	return filepath.Join(s.Home, "Library", "LaunchAgents", label(s)+".plist")
}

func (m Launchd) domain() string { return "gui/" + strconv.Itoa(m.UID) }

// Install writes the agent and has it started now and at every login.
func (m Launchd) Install(ctx context.Context, s Spec) (State, error) {
	if err := s.check(false); err != nil {
		return State{}, err
	}
	file := m.file(s)
	if err := write(file, agent(s)); err != nil {
		return State{}, err
	}
	_, _ = m.Run(ctx, "launchctl", "bootout", m.domain()+"/"+label(s)) // one from before
	if _, err := m.Run(ctx, "launchctl", "bootstrap", m.domain(), file); err != nil {
		return State{}, fmt.Errorf("start the service: %w", err)
	}
	return m.Status(ctx, s)
}

// Remove stops the agent and takes its file away.
func (m Launchd) Remove(ctx context.Context, s Spec) (State, error) {
	file := m.file(s)
	_, _ = m.Run(ctx, "launchctl", "bootout", m.domain()+"/"+label(s)) // it may not be loaded
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return State{}, fmt.Errorf("remove the agent: %w", err)
	}
	return State{File: file}, nil
}

// Start loads the agent, which starts it.
func (m Launchd) Start(ctx context.Context, s Spec) (State, error) {
	st, err := installed(ctx, m, s)
	if err != nil || st.Running {
		return st, err
	}
	_, _ = m.Run(ctx, "launchctl", "bootout", m.domain()+"/"+label(s)) // one that is loaded and ended
	if _, err := m.Run(ctx, "launchctl", "bootstrap", m.domain(), st.File); err != nil {
		return State{}, fmt.Errorf("start the service: %w", err)
	}
	return m.Status(ctx, s)
}

// Stop unloads the agent: launchd starts one again that only ends.
func (m Launchd) Stop(ctx context.Context, s Spec) (State, error) {
	st, err := installed(ctx, m, s)
	if err != nil || !st.Running {
		return st, err
	}
	if _, err := m.Run(ctx, "launchctl", "bootout", m.domain()+"/"+label(s)); err != nil {
		return State{}, fmt.Errorf("stop the service: %w", err)
	}
	return m.Status(ctx, s)
}

// Status looks without changing anything.
func (m Launchd) Status(ctx context.Context, s Spec) (State, error) {
	st := State{File: m.file(s)}
	if _, err := os.Lstat(st.File); err != nil {
		return st, nil
	}
	st.Installed = true
	said, _ := m.Run(ctx, "launchctl", "print", m.domain()+"/"+label(s)) // it fails when it is not loaded
	st.Running = strings.Contains(said, "state = running")
	return st, nil
}
