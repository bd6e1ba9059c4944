package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// shot is a program that takes a picture of the screen: to its standard output,
// or to the file @ of its arguments.
type shot struct {
	program string
	args    []string
	wayland bool // works there
	x11     bool
}

// screen takes a picture of the whole screen.
func (h *Host) screen(ctx context.Context, _ *conn, raw json.RawMessage) (any, error) {
	var p pictureParams
	if err := read(raw, &p); err != nil {
		return nil, err
	}
	data, err := h.takeScreen(ctx)
	if err != nil {
		return nil, &fault{"SCREEN_UNAVAILABLE", "no picture of the screen: " + err.Error()}
	}
	return encode(data, p, "jpg")
}

var errNoDisplay = errors.New("nobody is logged in to a desktop here (neither DISPLAY nor WAYLAND_DISPLAY is set)")

// firstShot tries the programs that are here, one after the other.
func (h *Host) firstShot(ctx context.Context, all []shot, hint string) ([]byte, error) {
	wayland, x11 := h.env("WAYLAND_DISPLAY") != "", h.env("DISPLAY") != ""
	if !wayland && !x11 {
		return nil, errNoDisplay
	}
	var failed []string
	for _, s := range all {
		path := h.find(s.program)
		if path == "" || !(wayland && s.wayland || x11 && !wayland && s.x11) {
			continue
		}
		data, err := h.shoot(ctx, path, s.args)
		if err == nil && len(data) > 0 {
			return data, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		failed = append(failed, fmt.Sprint(err))
	}
	if len(failed) == 0 {
		return nil, errors.New("no program that can take it is installed here; " + hint)
	}
	return nil, errors.New(strings.Join(failed, "; "))
}
