package power

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	logind  = "org.freedesktop.login1"
	manager = "/org/freedesktop/login1"
)

// Options: all are needed.
type Options struct {
	Now func() time.Time
	// System and Session connect to the two buses.
	System, Session func(context.Context) (*dbus.Conn, error)
}

// Watch tells of each time the computer slept, until ctx ends.
func Watch(ctx context.Context, o Options, slept func(from, to time.Time)) {
	if c, signals, err := o.sleeps(ctx); err == nil {
		defer c.Close()
		o.follow(ctx, signals, slept)
		if ctx.Err() != nil {
			return
		}
	}
	gaps(ctx, o.Now, nil, slept) // without logind, or when its bus is gone
}

func (o Options) sleeps(ctx context.Context) (*dbus.Conn, <-chan *dbus.Signal, error) {
	c, err := o.System(ctx)
	if err != nil {
		return nil, nil, err
	}
	var there bool
	err = c.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, logind).Store(&there)
	if err == nil && !there {
		err = ErrNone
	}
	if err == nil {
		err = c.AddMatchSignalContext(ctx, dbus.WithMatchSender(logind), dbus.WithMatchInterface(logind+".Manager"),
			dbus.WithMatchMember("PrepareForSleep"))
	}
	if err != nil {
		_ = c.Close()
		return nil, nil, err
	}
	signals := make(chan *dbus.Signal, 8)
	c.Signal(signals)
	return c, signals, nil
}

func (o Options) follow(ctx context.Context, signals <-chan *dbus.Signal, slept func(from, to time.Time)) {
	var from time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case s, open := <-signals:
			if !open {
				return
			}
			if s.Name != logind+".Manager.PrepareForSleep" || len(s.Body) != 1 {
				continue
			}
			now := o.Now().Round(0)
			if falls, _ := s.Body[0].(bool); falls {
				from = now
			} else if !from.IsZero() {
				slept(from, now)
				from = time.Time{}
			}
		}
	}
}

// Hold keeps the computer from falling asleep by itself until release. Closing
// a lid, and choosing sleep, still work.
func Hold(ctx context.Context, o Options, why string) (release func(), err error) {
	var held []io.Closer
	release = func() {
		for _, h := range held {
			_ = h.Close()
		}
	}
	if c, err := o.System(ctx); err == nil {
		var fd dbus.UnixFD
		if c.Object(logind, manager).CallWithContext(ctx, logind+".Manager.Inhibit", 0, "idle", "Hearth", why, "block").Store(&fd) == nil {
			held = append(held, os.NewFile(uintptr(fd), "inhibitor"))
		}
		_ = c.Close() // the descriptor holds
	}
	// Desktops that put the computer to sleep themselves ask their own service;
	// it forgets us with the connection.
	if c, err := o.Session(ctx); err == nil {
		var cookie uint32
		gnome := c.Object("org.gnome.SessionManager", "/org/gnome/SessionManager").CallWithContext(ctx, "org.gnome.SessionManager.Inhibit",
			dbus.FlagNoAutoStart, "Hearth", uint32(0), why, uint32(4)).Store(&cookie)
		others := c.Object("org.freedesktop.PowerManagement", "/org/freedesktop/PowerManagement/Inhibit").CallWithContext(ctx,
			"org.freedesktop.PowerManagement.Inhibit.Inhibit", dbus.FlagNoAutoStart, "Hearth", why).Store(&cookie)
		if gnome == nil || others == nil {
			held = append(held, c)
		} else {
			_ = c.Close()
		}
	}
	if len(held) == 0 {
		return func() {}, ErrNone
	}
	return release, nil
}
