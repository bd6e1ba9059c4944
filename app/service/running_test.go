package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each system is asked to start and to stop what is installed, and nothing else.
func TestStartAndStop(t *testing.T) {
	home := t.TempDir()
	s := Spec{Name: Gateway, Exe: "/usr/bin/hearth", Args: []string{"gateway"}, Home: home}
	m := &machine{says: map[string]string{}}
	for _, x := range []struct {
		name    string
		manager Manager
		running string // what is said of one that runs
		starts  []string
		stops   []string
	}{
		{"systemd", Systemd{Run: m.run}, "active", []string{"systemctl --user start hearth.service"},
			[]string{"systemctl --user stop hearth.service"}},
		{"launchd", Launchd{Run: m.run, UID: 501}, "state = running",
			[]string{"launchctl bootout gui/501/", "launchctl bootstrap gui/501 "}, []string{"launchctl bootout gui/501/"}},
		{"tasks", Tasks{Run: m.run}, "Status: Running", []string{"schtasks /Run /TN Hearth gateway"},
			[]string{"schtasks /End /TN Hearth gateway"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			look := map[string]string{"systemd": "is-active", "launchd": "print", "tasks": "/Query"}[x.name]
			if x.name == "tasks" {
				m.fails = map[string]string{look: "there is no such task"}
			}
			for _, act := range []func(Manager, context.Context, Spec) (State, error){Manager.Start, Manager.Stop,
				func(m Manager, ctx context.Context, s Spec) (State, error) { return Restart(ctx, m, s) }} {
				if _, err := act(x.manager, t.Context(), s); !errors.Is(err, ErrNotInstalled) {
					t.Errorf("one that is not installed: %v", err)
				}
			}
			m.fails = nil
			for _, file := range []string{Systemd{}.file(s), Launchd{}.file(s)} {
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = os.Remove(file) })
			}
			for want, act := range map[*[]string]func(Manager, context.Context, Spec) (State, error){
				&x.starts: Manager.Start, &x.stops: Manager.Stop,
			} {
				m.asked, m.says[look] = nil, x.running
				if want == &x.starts {
					m.says[look] = "it has ended"
				}
				if _, err := act(x.manager, t.Context(), s); err != nil {
					t.Error(err)
				}
				var did []string
				for _, line := range m.asked {
					if !strings.Contains(line, look) && !strings.Contains(line, "show-environment") {
						did = append(did, line)
					}
				}
				begins := func(whole, start string) bool { return strings.HasPrefix(whole, start) }
				if len(did) != len(*want) || !begins(strings.Join(did, "|"), (*want)[0]) || !begins(did[len(did)-1], (*want)[len(*want)-1]) {
					t.Error(cmp.Diff(*want, did))
				}
			}
		})
	}
}
