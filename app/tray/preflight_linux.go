//go:build desktop

package main

import (
	"context"
	"errors"
	"os"
)

// preflight looks before GTK does: GTK ends the process where there is no
// display, without a word and without letting anything be put in order.
func preflight(ctx context.Context) error {
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return errors.New("there is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set), so there is no menu bar. On a computer " +
			"without a desktop run hearth gateway, and hearth service install to have it always")
	}
	c, err := bus(ctx)
	if err != nil {
		return errors.New("this desktop session has no message bus, and icons in the menu bar need one: " + err.Error() + ". Log in to a " +
			"desktop session, or run hearth gateway and hearth open")
	}
	_ = c.Close()
	plain()
	openBus()
	return nil
}
