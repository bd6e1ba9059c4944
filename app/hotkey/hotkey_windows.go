package hotkey

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	wmHotkey = 0x0312
	wmQuit   = 0x0012
	keyID    = 1
	noRepeat = 0x4000
	taken    = windows.Errno(1409) // ERROR_HOTKEY_ALREADY_REGISTERED
)

// Listen calls pressed for each press until ctx ends. ready is called once the
// key is ours.
func Listen(ctx context.Context, c Chord, ready, pressed func()) error {
	// The key belongs to the thread that asked for it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	user32 := windows.NewLazySystemDLL("user32.dll")
	held := uintptr(noRepeat)
	for _, h := range []struct {
		on  bool
		bit uintptr
	}{{c.Alt, 1}, {c.Ctrl, 2}, {c.Shift, 4}, {c.Super, 8}} {
		if h.on {
			held |= h.bit
		}
	}
	if ok, _, err := user32.NewProc("RegisterHotKey").Call(0, keyID, held, code(c.Key)); ok == 0 {
		if errors.Is(err, taken) {
			return ErrTaken
		}
		return fmt.Errorf("ask for the key: %w", err)
	}
	defer func() { _, _, _ = user32.NewProc("UnregisterHotKey").Call(0, keyID) }()
	thread := windows.GetCurrentThreadId()
	defer context.AfterFunc(ctx, func() {
		_, _, _ = user32.NewProc("PostThreadMessageW").Call(uintptr(thread), wmQuit, 0, 0)
	})()
	ready()
	var msg struct {
		window  uintptr
		message uint32
		w, l    uintptr
		time    uint32
		x, y    int32
	}
	for {
		got, _, err := user32.NewProc("GetMessageW").Call(uintptr(unsafe.Pointer(&msg)), 0, 0, 0)
		switch int32(got) {
		case -1:
			return fmt.Errorf("wait for the key: %w", err)
		case 0:
			return ctx.Err()
		}
		if msg.message == wmHotkey {
			pressed()
		}
	}
}

// code is the number Windows has for a key.
func code(key string) uintptr {
	if key == "space" {
		return 0x20
	}
	if n := function(key); n > 0 {
		return uintptr(0x6f + n) // F1 is 0x70
	}
	if key[0] >= 'a' {
		return uintptr(key[0] - 'a' + 'A')
	}
	return uintptr(key[0])
}
