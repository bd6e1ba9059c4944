//go:build !linux && !windows

package hotkey

import "context"

// Listen says that there is no key.
func Listen(context.Context, Chord, func(), func()) error { return ErrNone }
