package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/hearth-assistant/hearth/app/notify"
	"github.com/hearth-assistant/hearth/app/power"
)

func hideConsole(*exec.Cmd) {}

// hasHost reports whether the desktop shows icons of programs at all. GNOME
// needs an extension for it.
func hasHost(ctx context.Context) bool {
	c, err := bus(ctx)
	if err != nil {
		return false
	}
	defer c.Close()
	var yes bool
	err = c.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, "org.kde.StatusNotifierWatcher").Store(&yes)
	return err == nil && yes
}

// bus is the session's; none is started.
func bus(ctx context.Context) (*dbus.Conn, error) {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
		return nil, errors.New("there is no session bus (DBUS_SESSION_BUS_ADDRESS is not set)")
	}
	return dbus.ConnectSessionBus(dbus.WithContext(ctx))
}

func browse(ctx context.Context, link string) error {
	return start("xdg-open", link)
}

func notifications(chosen func(notify.Choice)) *notify.Desktop {
	return notify.New(notify.Options{Chosen: chosen, Bus: bus, Now: time.Now})
}

func powers() power.Options {
	return power.Options{Now: time.Now, Session: bus, System: func(ctx context.Context) (*dbus.Conn, error) {
		return dbus.ConnectSystemBus(dbus.WithContext(ctx))
	}}
}

// alert is a message where there are no notifications: none here, it is in the
// log.
func alert(string, string) {}

func toClipboard(ctx context.Context, text string) error {
	for _, tool := range [][]string{{"wl-copy"}, {"xclip", "-selection", "clipboard"}, {"xsel", "-ib"}} {
		if path, err := exec.LookPath(tool[0]); err == nil {
			cmd := exec.CommandContext(ctx, path, tool[1:]...)
			cmd.Stdin = strings.NewReader(text)
			return cmd.Run()
		}
	}
	return errors.New("nothing was copied: install wl-clipboard or xclip, or run hearth doctor --json")
}
