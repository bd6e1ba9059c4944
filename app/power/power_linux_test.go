package power

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/hearth-assistant/hearth/app/desktoptest"
)

// login is the part of logind that is asked, on the session's bus.
type login struct {
	what chan [4]string
	pipe [2]int // its second end was given out last
}

func (l *login) Inhibit(what, who, why, mode string) (dbus.UnixFD, *dbus.Error) {
	if err := syscall.Pipe(l.pipe[:]); err != nil {
		return 0, dbus.MakeFailedError(err)
	}
	l.what <- [4]string{what, who, why, mode}
	return dbus.UnixFD(l.pipe[1]), nil
}

func connect(ctx context.Context) (*dbus.Conn, error) {
	return dbus.ConnectSessionBus(dbus.WithContext(ctx))
}

func newLogin(t *testing.T) (*login, *dbus.Conn) {
	t.Helper()
	desktoptest.Need(t, "DBUS_SESSION_BUS_ADDRESS")
	c, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	l := &login{what: make(chan [4]string, 1)}
	if err := c.Export(l, manager, logind+".Manager"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.RequestName(logind, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	return l, c
}

func TestFault_F_CLK_03_SleepIsTold(t *testing.T) {
	_, c := newLogin(t)
	now := time.Date(2026, 3, 4, 2, 10, 0, 0, time.UTC)
	o := Options{System: connect, Session: connect, Now: func() time.Time { return now }}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	conn, signals, err := o.sleeps(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var got [][2]time.Time
	next := make(chan *dbus.Signal)
	done := make(chan struct{})
	go func() {
		o.follow(ctx, next, func(from, to time.Time) { got = append(got, [2]time.Time{from, to}) })
		close(done)
	}()
	for _, step := range []struct {
		falls bool
		later time.Duration
	}{{false, time.Minute}, {true, 0}, {false, 5 * time.Hour}, {false, time.Minute}} { // the first is of a sleep before us
		if err := c.Emit(manager, logind+".Manager.PrepareForSleep", step.falls); err != nil {
			t.Fatal(err)
		}
		s := <-signals
		next <- &dbus.Signal{Name: "another"} // the one before was dealt with
		now = now.Add(step.later)
		next <- s
	}
	close(next)
	<-done
	if len(got) != 1 || got[0][1].Sub(got[0][0]) != 5*time.Hour {
		t.Errorf("%v", got)
	}
}

func TestTheComputerIsKeptAwakeUntilRelease(t *testing.T) {
	l, _ := newLogin(t)
	o := Options{Now: time.Now, System: connect, Session: connect}
	release, err := Hold(t.Context(), o, "An answer is being worked on")
	if err != nil {
		t.Fatal(err)
	}
	if got := <-l.what; got != [4]string{"idle", "Hearth", "An answer is being worked on", "block"} {
		t.Errorf("%v", got)
	}
	_ = syscall.Close(l.pipe[1]) // ours is the only one now
	release()
	if n, err := syscall.Read(l.pipe[0], make([]byte, 1)); n != 0 || err != nil {
		t.Errorf("it is still held: %d, %v", n, err)
	}
	none := func(context.Context) (*dbus.Conn, error) { return nil, errors.New("no bus") }
	if _, err := Hold(t.Context(), Options{System: none, Session: none}, "x"); !errors.Is(err, ErrNone) {
		t.Errorf("without a bus: %v", err)
	}
}
