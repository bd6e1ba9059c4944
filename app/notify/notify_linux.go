package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	service   = "org.freedesktop.Notifications"
	object    = "/org/freedesktop/Notifications"
	byDefault = "default" // the action of a click on the note itself
	byReply   = "inline-reply"
)

// A note that came up under somebody's hand a moment ago was not read yet.
const fresh = 700 * time.Millisecond

// Options: Chosen is needed.
type Options struct {
	// Chosen is told what somebody did, one at a time.
	Chosen func(Choice)
	// Bus connects to the session's bus.
	Bus func(context.Context) (*dbus.Conn, error)
	Now func() time.Time
}

// Desktop shows notes. Its methods may be called at the same time.
type Desktop struct {
	o Options

	mu    sync.Mutex // guards the following, and one call at a time
	conn  *dbus.Conn
	caps  []string
	shown map[string]note // by key
}

type note struct {
	id   uint32
	at   time.Time
	opts []string // the buttons that it has
	open string   // what a click on it stands for
}

// New shows nothing yet and connects to nothing.
func New(o Options) *Desktop {
	return &Desktop{o: o, shown: map[string]note{}}
}

// Show shows a note, in the place of the one with its key.
func (d *Desktop) Show(ctx context.Context, n Note) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.connect(ctx); err != nil {
		return err
	}
	text := Plain(n.Text, textChars, textLines)
	if slices.Contains(d.caps, "body-markup") {
		// The daemon would draw <b> and follow <a href>.
		text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	}
	was := d.shown[n.Key]
	shown := note{at: d.o.Now(), open: n.Opens}
	var actions []string
	if n.Opens != "" {
		actions = append(actions, byDefault, "Open")
	}
	if slices.Contains(d.caps, "actions") {
		for _, b := range n.Buttons {
			actions = append(actions, b.ID, b.Label)
			shown.opts = append(shown.opts, b.ID)
		}
	}
	hints := map[string]dbus.Variant{"desktop-entry": dbus.MakeVariant("hearth"), "urgency": dbus.MakeVariant(byte(1))}
	if n.Reply != "" && slices.Contains(d.caps, byReply) {
		actions = append(actions, byReply, n.Reply)
		shown.opts = append(shown.opts, byReply)
		hints["x-kde-reply-placeholder-text"] = dbus.MakeVariant(n.Reply)
	}
	timeout := int32(-1) // as the desktop likes
	if n.Stays {
		timeout = 0
		hints["urgency"] = dbus.MakeVariant(byte(2))
	}
	if actions == nil {
		actions = []string{}
	}
	err := d.conn.Object(service, object).CallWithContext(ctx, service+".Notify", 0,
		"Hearth", was.id, "hearth", Plain(n.Title, titleChars, 1), text, actions, hints, timeout).Store(&shown.id)
	if err != nil {
		return fmt.Errorf("show a notification: %w", err)
	}
	d.shown[n.Key] = shown
	return nil
}

// Withdraw takes a note away; one that is not shown is no error.
func (d *Desktop) Withdraw(ctx context.Context, key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, ok := d.shown[key]
	if !ok || d.conn == nil {
		return
	}
	delete(d.shown, key)
	d.conn.Object(service, object).CallWithContext(ctx, service+".CloseNotification", 0, n.id) // it may be gone already
}

// Close ends the connection; what is shown stays.
func (d *Desktop) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != nil {
		_ = d.conn.Close()
		d.conn = nil
	}
}

// connect connects once, and again after the bus was lost.
func (d *Desktop) connect(ctx context.Context) error {
	if d.conn != nil && d.conn.Connected() {
		return nil
	}
	// The connection outlives the call that made it: presses come later.
	c, err := d.o.Bus(context.WithoutCancel(ctx))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	var caps []string
	err = c.Object(service, object).CallWithContext(ctx, service+".GetCapabilities", 0).Store(&caps)
	if err == nil {
		err = c.AddMatchSignalContext(ctx, dbus.WithMatchSender(service), dbus.WithMatchInterface(service))
	}
	if err != nil {
		_ = c.Close()
		var de dbus.Error
		if errors.As(err, &de) {
			return fmt.Errorf("%w: %w", ErrNone, err)
		}
		return err
	}
	signals := make(chan *dbus.Signal, 16)
	c.Signal(signals)
	d.conn, d.caps, d.shown = c, caps, map[string]note{}
	go d.listen(c, signals) // ends with the connection, which closes the channel
	return nil
}

func (d *Desktop) listen(c *dbus.Conn, signals <-chan *dbus.Signal) {
	for s := range signals {
		if s.Path != object || !strings.HasPrefix(s.Name, service+".") || len(s.Body) < 1 {
			continue
		}
		// Any program on the bus can send us a signal with this name: only that
		// of the daemon counts (A-UI-09).
		var owner string
		if c.BusObject().Call("org.freedesktop.DBus.GetNameOwner", 0, service).Store(&owner) != nil || owner != s.Sender {
			continue
		}
		if choice, ok := d.took(s); ok {
			d.o.Chosen(choice)
		}
	}
}

// took is the choice that a signal means, if it means one.
func (d *Desktop) took(s *dbus.Signal) (Choice, bool) {
	id, ok := s.Body[0].(uint32)
	if !ok {
		return Choice{}, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, n := range d.shown {
		if n.id != id {
			continue
		}
		word := ""
		if len(s.Body) > 1 {
			word, _ = s.Body[1].(string)
		}
		switch strings.TrimPrefix(s.Name, service+".") {
		case "NotificationClosed":
			delete(d.shown, key)
		case "NotificationReplied":
			if slices.Contains(n.opts, byReply) && strings.TrimSpace(word) != "" {
				delete(d.shown, key)
				return Choice{Key: key, Text: word}, true
			}
		case "ActionInvoked":
			if word == byDefault {
				word = n.open
			} else if !slices.Contains(n.opts, word) || word == byReply {
				return Choice{}, false
			}
			if word == "" || d.o.Now().Sub(n.at) < fresh {
				return Choice{}, false
			}
			delete(d.shown, key)
			return Choice{Key: key, Button: word}, true
		}
		return Choice{}, false
	}
	return Choice{}, false
}
