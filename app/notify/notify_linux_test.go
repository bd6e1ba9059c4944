package notify

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/hearth-assistant/hearth/app/desktoptest"
	"github.com/hearth-assistant/hearth/app/notify/notifytest"
)

func bus(t *testing.T) *dbus.Conn {
	t.Helper()
	desktoptest.Need(t, "DBUS_SESSION_BUS_ADDRESS")
	c, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

type desk struct {
	*Desktop
	daemon  *notifytest.Daemon
	choices chan Choice
	now     time.Time
}

func newDesk(t *testing.T, caps ...string) *desk {
	t.Helper()
	d := &desk{choices: make(chan Choice, 4), now: time.Now()}
	var err error
	if d.daemon, err = notifytest.Start(bus(t), caps...); err != nil {
		t.Fatal(err)
	}
	d.Desktop = New(Options{
		Chosen: func(c Choice) { d.choices <- c },
		Bus: func(ctx context.Context) (*dbus.Conn, error) {
			return dbus.ConnectSessionBus(dbus.WithContext(ctx))
		},
		Now: func() time.Time { return d.now },
	})
	t.Cleanup(d.Close)
	return d
}

// show shows a note that has been there for a while.
func (d *desk) show(t *testing.T, n Note) notifytest.Shown {
	t.Helper()
	if err := d.Show(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	d.now = d.now.Add(fresh)
	id := d.shown[n.Key].id
	d.mu.Unlock()
	for _, s := range d.daemon.All() {
		if s.ID == id {
			return s
		}
	}
	t.Fatal("it is not shown")
	panic("unreachable")
}

func (d *desk) chose(t *testing.T) Choice {
	t.Helper()
	select {
	case c := <-d.choices:
		return c
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was chosen")
	}
	panic("unreachable")
}

// nothing waits until the bus has brought all that came before, and says that
// none of it was a choice.
func (d *desk) nothing(t *testing.T) {
	t.Helper()
	s := d.show(t, Note{Key: "after", Opens: "yes"})
	if err := d.daemon.Press(s.ID, "default"); err != nil {
		t.Fatal(err)
	}
	if c := d.chose(t); c.Key != "after" {
		t.Errorf("%+v was taken for a choice", c)
	}
}

var question = Note{Key: "q", Title: "May I?", Text: "rm <b>x</b> & y", Opens: "see", Stays: true, Reply: "Reply…",
	Buttons: []Button{{"allow", "Allow once"}, {"deny", "Don’t allow"}}}

func TestButtonsRepliesAndWhatReplacesWhat(t *testing.T) {
	d := newDesk(t, "actions", "body", "body-markup", "inline-reply")
	s := d.show(t, question)
	if s.Text != "rm &lt;b&gt;x&lt;/b&gt; &amp; y" || !s.Has("Allow once") || !s.Has("Reply…") || s.Timeout != 0 {
		t.Errorf("%+v", s)
	}
	if err := d.daemon.Press(s.ID, "allow"); err != nil {
		t.Fatal(err)
	}
	if c := d.chose(t); c != (Choice{Key: "q", Button: "allow"}) {
		t.Errorf("%+v", c)
	}
	first := d.show(t, question)
	changed := question
	changed.Text = "again"
	if s = d.show(t, changed); s.ID != first.ID || len(d.daemon.All()) != 1 {
		t.Errorf("the note was not replaced: %+v", d.daemon.All())
	}
	if err := d.daemon.Reply(s.ID, "yes, do"); err != nil {
		t.Fatal(err)
	}
	if c := d.chose(t); c != (Choice{Key: "q", Text: "yes, do"}) {
		t.Errorf("%+v", c)
	}
	d.show(t, question)
	d.Withdraw(t.Context(), "q")
	d.Withdraw(t.Context(), "q")
	if left := d.daemon.All(); len(left) != 0 {
		t.Errorf("%+v are still there", left)
	}
}

func TestADesktopWithoutMarkupOrButtonsShowsTheText(t *testing.T) {
	d := newDesk(t, "body")
	if s := d.show(t, question); s.Text != "rm <b>x</b> & y" || s.Has("Allow once") || s.Has("Reply…") {
		t.Errorf("%+v", s)
	}
}

func TestSec_A_UI_09_PressesThatNobodyMade(t *testing.T) {
	d := newDesk(t, "actions")
	s := d.show(t, question)
	other := bus(t)
	for _, press := range []struct {
		from   *dbus.Conn
		signal string
		args   []any
	}{
		{other, "ActionInvoked", []any{s.ID, "allow"}}, // not the daemon
		{other, "NotificationReplied", []any{s.ID, "do it"}},
		{nil, "ActionInvoked", []any{s.ID, "allow-always"}}, // a button that it has not
		{nil, "ActionInvoked", []any{s.ID, "inline-reply"}},
		{nil, "NotificationReplied", []any{s.ID, "do it"}}, // it takes no reply
		{nil, "ActionInvoked", []any{s.ID + 7, "allow"}},   // another program's note
		{nil, "ActionInvoked", []any{"x", 5}},
		{nil, "ActionInvoked", []any{}},
	} {
		from := press.from
		if from == nil {
			from = d.daemon.Conn()
		}
		if err := from.Emit(object, service+"."+press.signal, press.args...); err != nil {
			t.Fatal(err)
		}
		// Straight to us as well, past the bus's own filter.
		d.mu.Lock()
		to := d.conn.Names()[0]
		d.mu.Unlock()
		sig := &dbus.Message{Type: dbus.TypeSignal, Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldInterface: dbus.MakeVariant(service), dbus.FieldMember: dbus.MakeVariant(press.signal),
			dbus.FieldPath: dbus.MakeVariant(dbus.ObjectPath(object)), dbus.FieldDestination: dbus.MakeVariant(to),
		}, Body: press.args}
		if len(press.args) > 0 {
			sig.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(press.args...))
		}
		from.Send(sig, nil)
		if err := from.BusObject().Call("org.freedesktop.DBus.GetId", 0).Err; err != nil { // it has left
			t.Fatal(err)
		}
	}
	d.nothing(t)
}

// A note that came up under somebody's hand a moment ago was not read yet. The
// reply comes after the press on the same connection, and needs no age.
func TestSec_A_UI_09_UnderSomebodysHand(t *testing.T) {
	d := newDesk(t, "actions", byReply)
	other := d.show(t, Note{Key: "r", Reply: "Reply…"})
	if err := d.Show(t.Context(), question); err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	id := d.shown["q"].id
	d.mu.Unlock()
	if err := d.daemon.Press(id, "allow"); err != nil {
		t.Fatal(err)
	}
	if err := d.daemon.Reply(other.ID, "read"); err != nil {
		t.Fatal(err)
	}
	if c := d.chose(t); c.Key != "r" || c.Text != "read" {
		t.Errorf("%+v was taken for a choice", c)
	}
}

func TestFault_NotificationsWithoutADesktopOrABus(t *testing.T) {
	none := New(Options{Bus: func(context.Context) (*dbus.Conn, error) { return nil, errors.New("no bus") }, Now: time.Now})
	if err := none.Show(t.Context(), question); !errors.Is(err, ErrNone) {
		t.Errorf("without a bus: %v", err)
	}
	none.Withdraw(t.Context(), "q")
	none.Close()
	bus(t) // or skip
	nobody := New(Options{Bus: func(context.Context) (*dbus.Conn, error) { return dbus.ConnectSessionBus() }, Now: time.Now})
	if err := nobody.Show(t.Context(), question); !errors.Is(err, ErrNone) {
		t.Errorf("without a service: %v", err)
	}
}

// The bus is lost, as when a session is restarted: the next note connects anew.
func TestFault_TheBusIsLost(t *testing.T) {
	d := newDesk(t, "actions")
	d.show(t, question)
	d.mu.Lock()
	_ = d.conn.Close()
	d.mu.Unlock()
	s := d.show(t, question)
	if err := d.daemon.Press(s.ID, "deny"); err != nil {
		t.Fatal(err)
	}
	if c := d.chose(t); c.Button != "deny" {
		t.Errorf("%+v", c)
	}
}
