package hotkey

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// Listen calls pressed for each press until ctx ends. ready is called once the
// key is ours.
func Listen(ctx context.Context, c Chord, ready, pressed func()) error {
	if os.Getenv("WAYLAND_DISPLAY") != "" || os.Getenv("DISPLAY") == "" {
		return ErrNone // under Wayland an X server hears only its own windows
	}
	conn, err := xgb.NewConn()
	if err != nil {
		return fmt.Errorf("reach the display: %w", err)
	}
	root := xproto.Setup(conn).DefaultScreen(conn).Root
	stop := context.AfterFunc(ctx, func() {
		// Given back and answered before Listen returns: the server takes its time
		// to see a closed connection, and until then the key would be taken.
		_ = xproto.UngrabKeyChecked(conn, xproto.GrabAny, root, xproto.ModMaskAny).Check()
		conn.Close()
	})
	defer func() {
		if stop() {
			conn.Close()
		}
	}()
	codes, err := codesOf(conn, symbol(c.Key))
	if err != nil {
		return err
	}
	for _, code := range codes {
		// Caps Lock and Num Lock are held keys to the server.
		for _, more := range []uint16{0, xproto.ModMaskLock, xproto.ModMask2, xproto.ModMaskLock | xproto.ModMask2} {
			err := xproto.GrabKeyChecked(conn, true, root, mask(c)|more, code, xproto.GrabModeAsync, xproto.GrabModeAsync).Check()
			var access xproto.AccessError
			if errors.As(err, &access) {
				return ErrTaken
			}
			if err != nil {
				return fmt.Errorf("ask for the key: %w", err)
			}
		}
	}
	ready()
	for {
		ev, xerr := conn.WaitForEvent()
		if ev == nil && xerr == nil { // closed
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return errors.New("the display is gone")
		}
		if _, ok := ev.(xproto.KeyPressEvent); ok {
			pressed()
		}
	}
}

func mask(c Chord) (m uint16) {
	for _, h := range []struct {
		on  bool
		bit uint16
	}{{c.Ctrl, xproto.ModMaskControl}, {c.Alt, xproto.ModMask1}, {c.Shift, xproto.ModMaskShift}, {c.Super, xproto.ModMask4}} {
		if h.on {
			m |= h.bit
		}
	}
	return m
}

// symbol is the number X has for a key.
func symbol(key string) xproto.Keysym {
	if key == "space" {
		return ' '
	}
	if n := function(key); n > 0 {
		return xproto.Keysym(0xffbd + n) // F1 is 0xffbe
	}
	return xproto.Keysym(key[0])
}

// codesOf are the keys of this keyboard that have a symbol.
func codesOf(conn *xgb.Conn, want xproto.Keysym) (codes []xproto.Keycode, err error) {
	setup := xproto.Setup(conn)
	n := byte(setup.MaxKeycode - setup.MinKeycode + 1)
	m, err := xproto.GetKeyboardMapping(conn, setup.MinKeycode, n).Reply()
	if err != nil {
		return nil, fmt.Errorf("read the keyboard: %w", err)
	}
	for i := range int(n) {
		if at := i * int(m.KeysymsPerKeycode); m.Keysyms[at] == want {
			codes = append(codes, setup.MinKeycode+xproto.Keycode(i))
		}
	}
	if len(codes) == 0 {
		return nil, errors.New("this keyboard has no such key")
	}
	return codes, nil
}
