package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

const (
	settleDesktop = 12 * time.Second // until icon and gateway have nothing more to do
	idleDesktop   = 20 * time.Second
	windowsOpened = 4 // the first one fills the caches of disk and libraries
)

// panel is the part of a panel that icons register with.
type panel struct{ icons chan time.Time }

func (p panel) RegisterStatusNotifierItem(string) *dbus.Error {
	p.icons <- time.Now()
	return nil
}

// measureDesktop runs icon and window as a person does, on the display and the
// session bus that are there.
func measureDesktop(ctx context.Context, b *bench) ([]figure, error) {
	tray, window := filepath.Join(filepath.Dir(b.hearth), "hearth-tray"), filepath.Join(filepath.Dir(b.hearth), "hearth-window")
	for _, need := range []struct {
		missing bool
		why     string
	}{
		{os.Getenv("DISPLAY") == "" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "", "no display or no session bus"},
		{absent(tray) || absent(window), "hearth-tray and hearth-window are not built (docs/desktop.md)"},
	} {
		if need.missing {
			return []figure{{name: "icon and window", unit: "", note: "not measured: " + need.why}}, nil
		}
	}
	bus, err := dbus.ConnectSessionBus(dbus.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer bus.Close()
	p := panel{make(chan time.Time, 8)}
	if err := bus.Export(p, "/StatusNotifierWatcher", "org.kde.StatusNotifierWatcher"); err != nil {
		return nil, err
	}
	if _, err := bus.RequestName("org.kde.StatusNotifierWatcher", dbus.NameFlagDoNotQueue); err != nil {
		return nil, err
	}
	dir, err := b.home()
	if err != nil {
		return nil, err
	}
	env := append(clean(os.Environ()), "HEARTH_HOME="+string(dir), "HOME="+filepath.Dir(string(dir)))
	cmd := exec.CommandContext(ctx, tray)
	cmd.Env = env
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}()
	var out []figure
	select {
	case at := <-p.icons:
		out = append(out, figure{name: "icon, from the start on", measured: at.Sub(began).Seconds(), budget: 0.5, unit: "s",
			note: "until it registers with the panel"})
	case <-time.After(20 * time.Second):
		return nil, errors.New("no icon came")
	}
	idle, err := idleOf(ctx, cmd.Process.Pid)
	if out = append(out, idle...); err != nil {
		return out, err
	}
	opened, err := windows(ctx, dir, window, env)
	return append(out, opened...), err
}

func absent(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

// idleOf is what icon and gateway take while nothing happens.
func idleOf(ctx context.Context, pid int) ([]figure, error) {
	if err := wait(ctx, settleDesktop); err != nil {
		return nil, err
	}
	both := family(pid)
	busy, woke := used(both)
	if err := wait(ctx, idleDesktop); err != nil {
		return nil, err
	}
	busy2, woke2 := used(both)
	return []figure{
		{name: "icon and gateway, idle, private memory", measured: private(both), budget: 30, unit: "MB",
			note: fmt.Sprintf("RssAnon of %d processes; PSS %.0f MB", len(both), share(both))},
		{name: "icon and gateway, idle, processor", measured: 100 * (busy2 - busy).Seconds() / idleDesktop.Seconds(), budget: 0.1, unit: "%",
			note: fmt.Sprintf("over %v, in steps of 0.05", idleDesktop)},
		{name: "wake-ups of both, idle", measured: float64(woke2-woke) / idleDesktop.Seconds(), unit: "/s", note: "voluntary switches of all " +
			"threads"},
	}, nil
}

// windows opens and closes the window.
func windows(ctx context.Context, dir statedir.Dir, program string, env []string) ([]figure, error) {
	c, err := client.Open(ctx, dir, client.Options{Client: protocol.ClientInfo{ID: "cli", Mode: "cli", Version: "bench"},
		Scopes: []protocol.Scope{protocol.ScopeRead}})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	empty, err := emptyView(ctx, program, env)
	if err != nil {
		return nil, err
	}
	var times []time.Duration
	var open, shared float64
	for n := range windowsOpened {
		cmd := exec.CommandContext(ctx, program)
		cmd.Env = env
		began := time.Now()
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		err := looked(ctx, c, true)
		times = append(times, time.Since(began))
		if err == nil {
			settle := 2 * time.Second
			if n == windowsOpened-1 {
				settle = settleDesktop // its memory is measured, as that of the icon is
			}
			err = wait(ctx, settle)
		}
		all := family(cmd.Process.Pid)
		open, shared = private(all), share(all)
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if err != nil {
			return nil, err
		}
		for range 100 {
			if share(all) == 0 {
				break
			}
			if err := wait(ctx, 50*time.Millisecond); err != nil {
				return nil, err
			}
		}
		if err := looked(ctx, c, false); err != nil {
			return nil, err
		}
		if left := share(all); left > 0 {
			return nil, fmt.Errorf("%.0f MB stayed after the window was closed", left)
		}
	}
	return []figure{
		{name: "window, from the click to a usable page", measured: quantile(times[1:], 0.5) / 1000, budget: 1, unit: "s",
			note: fmt.Sprintf("warm; the first one %.2f s", times[0].Seconds())},
		{name: "window, open, over an empty page, private memory", measured: open - empty, budget: 40, unit: "MB",
			note: fmt.Sprintf("%.0f MB with its web view's processes, %.0f with an empty page (PSS %.0f MB); nothing stays after it was closed",
				open, empty, shared)},
	}, nil
}

// emptyView is the private memory of a web view of this system with nothing in
// it: the same program shows an empty page of the web.
func emptyView(ctx context.Context, program string, env []string) (float64, error) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<!doctype html><title>empty</title>")
	}))
	defer page.Close()
	cmd := exec.CommandContext(ctx, program, "--canvas", page.URL)
	cmd.Env = env
	in, err := cmd.StdinPipe() // the window closes when it ends
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	err = wait(ctx, settleDesktop)
	mb := private(family(cmd.Process.Pid))
	_ = in.Close()
	_ = cmd.Wait()
	return mb, err
}

// looked waits until a page is connected, or none.
func looked(ctx context.Context, c *client.Client, want bool) error {
	for range 2000 {
		var there []protocol.PresenceEntry
		if err := c.Call(ctx, protocol.MethodSystemPresence, struct{}{}, &there); err != nil {
			return err
		}
		if slices.ContainsFunc(there, func(p protocol.PresenceEntry) bool { return p.Mode == "webchat" }) == want {
			return nil
		}
		if err := wait(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return errors.New("the page did not connect, or did not go")
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// family is a process and all that it started.
func family(pid int) []int {
	out := []int{pid}
	kids, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range kids {
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, f := range strings.Fields(string(b)) {
			if kid, err := strconv.Atoi(f); err == nil {
				out = append(out, family(kid)...)
			}
		}
	}
	return out
}

// private is the memory that processes have for themselves.
func private(pids []int) (mb float64) {
	for _, pid := range pids {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
			own, _ := inStatus(b, "RssAnon:") // none: it is just ending
			mb += own
		}
	}
	return mb
}

// share is the memory of processes, what they share divided among its users.
func share(pids []int) (mb float64) {
	for _, pid := range pids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue // gone
		}
		for line := range strings.Lines(string(b)) {
			if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
				kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
				mb += kb * 1024 / 1e6
			}
		}
	}
	return mb
}

// used is the processor time of processes, and how often they woke up.
func used(pids []int) (busy time.Duration, woke int) {
	for _, pid := range pids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		if i := strings.LastIndexByte(string(b), ')'); i > 0 {
			f := strings.Fields(string(b[i+1:]))
			for _, ticks := range f[11:13] {
				n, _ := strconv.Atoi(ticks)
				busy += time.Duration(n) * 10 * time.Millisecond
			}
		}
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
		for _, t := range tasks {
			b, err := os.ReadFile(t)
			if err != nil {
				continue
			}
			if _, rest, ok := strings.Cut(string(b), "\nvoluntary_ctxt_switches:"); ok {
				n, _ := strconv.Atoi(strings.Fields(rest)[0])
				woke += n
			}
		}
	}
	return busy, woke
}
