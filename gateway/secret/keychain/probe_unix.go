//go:build !windows && !darwin

package keychain

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	secretsName = "org.freedesktop.secrets"
	secretsPath = dbus.ObjectPath("/org/freedesktop/secrets")
	probeTime   = 3 * time.Second
)

// busAddress is a session bus that exists: none is started.
func busAddress(env func(string) string) string {
	addr := env("DBUS_SESSION_BUS_ADDRESS")
	if addr != "" {
		if strings.HasPrefix(addr, "autolaunch:") {
			return ""
		}
		return addr
	}
	dir := env("XDG_RUNTIME_DIR")
	if dir == "" {
		return ""
	}
	sock := filepath.Join(dir, "bus")
	if info, err := os.Stat(sock); err != nil || info.Mode()&os.ModeSocket == 0 {
		return ""
	}
	return "unix:path=" + sock
}

// probe asks the bus for the state of the Secret Service. It reads only: a call
// that would make a window ask for something is not made.
func probe(ctx context.Context, env func(string) string) State {
	addr := busAddress(env)
	if addr == "" {
		return NoBus
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	c, err := dbus.Connect(addr, dbus.WithContext(ctx))
	if err != nil {
		return NoBus
	}
	defer func() { _ = c.Close() }()
	if !served(ctx, c) {
		return NoService
	}
	var p dbus.ObjectPath
	if err := c.Object(secretsName, secretsPath).CallWithContext(ctx, "org.freedesktop.Secret.Service.ReadAlias", 0,
		"default").Store(&p); err != nil {
		return Failed
	}
	if p == "/" || p == "" {
		return NoCollection
	}
	var v dbus.Variant
	err = c.Object(secretsName, p).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, "org.freedesktop.Secret.Collection",
		"Locked").Store(&v)
	if err != nil {
		return Failed
	}
	if locked, ok := v.Value().(bool); !ok || locked {
		return Locked
	}
	return Ready
}

// served: somebody keeps secrets on this bus, or would be started to.
func served(ctx context.Context, c *dbus.Conn) bool {
	var owned bool
	if err := c.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, secretsName).Store(&owned); err != nil || owned {
		return owned
	}
	var names []string
	err := c.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.ListActivatableNames", 0).Store(&names)
	return err == nil && slices.Contains(names, secretsName)
}
