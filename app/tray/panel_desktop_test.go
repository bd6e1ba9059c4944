//go:build desktop && linux

package main

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"

	"github.com/hearth-assistant/hearth/app/desktoptest"
)

// host is the part of a panel that icons register with.
type host struct {
	conn  *dbus.Conn
	items chan [2]string // bus name, object path
}

func (h *host) RegisterStatusNotifierItem(s string, sender dbus.Sender) *dbus.Error {
	name, path := s, "/StatusNotifierItem"
	if strings.HasPrefix(s, "/") { // libayatana passes an object path
		name, path = string(sender), s
	}
	h.items <- [2]string{name, path}
	return nil
}

func (h *host) RegisterStatusNotifierHost(string) *dbus.Error { return nil }

func newHost(t *testing.T) *host {
	t.Helper()
	c, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	h := &host{conn: c, items: make(chan [2]string, 8)}
	if err := c.Export(h, "/StatusNotifierWatcher", watcher); err != nil {
		t.Fatal(err)
	}
	if _, err := prop.Export(c, "/StatusNotifierWatcher", prop.Map{watcher: {
		"IsStatusNotifierHostRegistered": {Value: true, Emit: prop.EmitTrue},
		"ProtocolVersion":                {Value: int32(0), Emit: prop.EmitTrue},
		"RegisteredStatusNotifierItems":  {Value: []string{}, Emit: prop.EmitTrue},
	}}); err != nil {
		t.Fatal(err)
	}
	if r, err := c.RequestName(watcher, dbus.NameFlagDoNotQueue); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("be the icon host: %v %v", r, err)
	}
	return h
}

// icon is what registered, and its menu.
type icon struct {
	t    *testing.T
	item dbus.BusObject
	menu dbus.BusObject
}

type node struct {
	ID       int32
	Props    map[string]dbus.Variant
	Children []dbus.Variant
}

func (h *host) icon(t *testing.T) icon {
	t.Helper()
	select {
	case it := <-h.items:
		item := h.conn.Object(it[0], dbus.ObjectPath(it[1]))
		v, err := item.GetProperty("org.kde.StatusNotifierItem.Menu")
		if err != nil {
			t.Fatal(err)
		}
		return icon{t, item, h.conn.Object(it[0], v.Value().(dbus.ObjectPath))}
	case <-time.After(20 * time.Second):
		t.Fatal("no icon registered")
	}
	panic("unreachable")
}

// rows are the visible rows by their labels, those of submenus with the label
// of the row above before them.
func (i icon) rows() map[string]int32 {
	var rev uint32
	var root node
	if err := i.menu.Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{"label", "visible", "enabled", "type"}).Store(
		&rev, &root); err != nil {
		i.t.Fatal(err)
	}
	out := map[string]int32{}
	var walk func(n node, under string)
	walk = func(n node, under string) {
		for _, ch := range n.Children {
			var c node
			if err := dbus.Store([]any{ch.Value()}, &c); err != nil {
				i.t.Fatal(err)
			}
			if v, ok := c.Props["visible"]; ok && v.Value() == false {
				continue
			}
			label, _ := c.Props["label"].Value().(string)
			if label != "" {
				out[under+label] = c.ID
			}
			walk(c, under+label+" > ")
		}
	}
	walk(root, "")
	return out
}

// until waits for a row whose label begins so.
func (i icon) until(prefix string) int32 {
	i.t.Helper()
	for range 400 {
		for label, id := range i.rows() {
			if strings.HasPrefix(label, prefix) {
				return id
			}
		}
		desktoptest.Pause(i.t, 50*time.Millisecond)
	}
	i.t.Fatalf("no row %q in %v", prefix, slices.Sorted(maps.Keys(i.rows())))
	return 0
}

func (i icon) press(prefix string) {
	i.t.Helper()
	id := i.until(prefix)
	desktoptest.Pause(i.t, fresh) // a row that changed a moment ago is not done
	if err := i.menu.Call("com.canonical.dbusmenu.Event", 0, id, "clicked", dbus.MakeVariant(""), uint32(0)).Err; err != nil {
		i.t.Fatal(err)
	}
}

// picture is the file that is shown, nothing while it is being exchanged.
func (i icon) picture() []byte {
	v, err := i.item.GetProperty("org.kde.StatusNotifierItem.IconName")
	if err != nil {
		i.t.Fatal(err)
	}
	b, err := os.ReadFile(v.Value().(string))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		i.t.Fatal(err)
	}
	return b
}

func (i icon) shows(name string) {
	i.t.Helper()
	want, err := icons.ReadFile("icons/" + name + ".png")
	if err != nil {
		i.t.Fatal(err)
	}
	for range 200 {
		if slices.Equal(i.picture(), want) {
			return
		}
		desktoptest.Pause(i.t, 50*time.Millisecond)
	}
	i.t.Fatalf("the icon is not %s", name)
}
