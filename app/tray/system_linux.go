package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"

	"github.com/godbus/dbus/v5"
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

// tell shows a notification. What stands in it is text: daemons draw markup.
func tell(ctx context.Context, title, text string) {
	c, err := bus(ctx)
	if err != nil {
		return
	}
	defer c.Close()
	plain := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	c.Object("org.freedesktop.Notifications", "/org/freedesktop/Notifications").CallWithContext(ctx, "org.freedesktop.Notifications.Notify", 0,
		"Hearth", uint32(0), "hearth", title, plain, []string{}, map[string]dbus.Variant{"desktop-entry": dbus.MakeVariant("hearth")}, int32(8000))
}

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
