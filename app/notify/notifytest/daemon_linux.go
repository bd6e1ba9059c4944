// Package notifytest is a desktop's notification service for tests: it takes
// org.freedesktop.Notifications on a bus, keeps what is shown, and presses
// buttons.
package notifytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/godbus/dbus/v5"
)

const (
	name = "org.freedesktop.Notifications"
	path = "/org/freedesktop/Notifications"
)

// Shown is a note on the desktop.
type Shown struct {
	ID          uint32
	Title, Text string
	Actions     []string // id, label, id, label
	Hints       map[string]dbus.Variant
	Timeout     int32
}

// Has reports whether it has a button with this label.
func (s Shown) Has(label string) bool { return slices.Contains(s.Actions, label) }

// Daemon is the service.
type Daemon struct {
	conn *dbus.Conn
	caps []string
	news chan struct{}

	mu    sync.Mutex
	last  uint32
	shown map[uint32]Shown
}

// Start takes the name on a connection that the caller closes.
func Start(c *dbus.Conn, caps ...string) (*Daemon, error) {
	d := &Daemon{conn: c, caps: caps, news: make(chan struct{}, 1), shown: map[uint32]Shown{}}
	if err := c.Export(service{d}, path, name); err != nil {
		return nil, err
	}
	r, err := c.RequestName(name, dbus.NameFlagDoNotQueue)
	if err == nil && r != dbus.RequestNameReplyPrimaryOwner {
		err = errors.New("another service shows notifications on this bus")
	}
	return d, err
}

// Conn is its connection, for what a broken service would send.
func (d *Daemon) Conn() *dbus.Conn { return d.conn }

// All is what is on the desktop now.
func (d *Daemon) All() []Shown {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []Shown
	for _, s := range d.shown {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Shown) int { return int(a.ID) - int(b.ID) })
	return out
}

// Until waits for what is on the desktop to be as asked.
func (d *Daemon) Until(ctx context.Context, ok func([]Shown) bool) ([]Shown, error) {
	for {
		now := d.All()
		if ok(now) {
			return now, nil
		}
		select {
		case <-ctx.Done():
			return now, fmt.Errorf("%w; shown are %+v", ctx.Err(), now)
		case <-d.news:
		}
	}
}

// Press presses a button by its id; the note goes away, as on most desktops.
func (d *Daemon) Press(id uint32, button string) error {
	if err := d.conn.Emit(path, name+".ActionInvoked", id, button); err != nil {
		return err
	}
	return d.close(id, 2)
}

// Reply types an answer into a note.
func (d *Daemon) Reply(id uint32, text string) error {
	if err := d.conn.Emit(path, name+".NotificationReplied", id, text); err != nil {
		return err
	}
	return d.close(id, 2)
}

func (d *Daemon) close(id, why uint32) error {
	d.mu.Lock()
	delete(d.shown, id)
	d.mu.Unlock()
	d.changed()
	return d.conn.Emit(path, name+".NotificationClosed", id, why)
}

func (d *Daemon) changed() {
	select {
	case d.news <- struct{}{}:
	default:
	}
}

// service is what is on the bus.
type service struct{ d *Daemon }

// GetCapabilities is the bus's.
func (s service) GetCapabilities() ([]string, *dbus.Error) { return s.d.caps, nil }

// Notify is the bus's.
func (s service) Notify(_ string, replaces uint32, _, title, text string, actions []string, hints map[string]dbus.Variant,
	timeout int32) (uint32, *dbus.Error) {
	d := s.d
	d.mu.Lock()
	id := replaces
	if id == 0 {
		d.last++
		id = d.last
	}
	d.shown[id] = Shown{id, title, text, actions, hints, timeout}
	d.mu.Unlock()
	d.changed()
	return id, nil
}

// CloseNotification is the bus's.
func (s service) CloseNotification(id uint32) *dbus.Error {
	if err := s.d.close(id, 3); err != nil {
		return dbus.MakeFailedError(err)
	}
	return nil
}
