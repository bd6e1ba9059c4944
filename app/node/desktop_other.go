//go:build !linux && !darwin && !windows

package node

import (
	"context"
	"errors"
)

var errNotHere = errors.New("not available on this system")

func (h *Host) tellDesktop(context.Context, string, string) error { return errNotHere }
func (h *Host) where(context.Context, uint32) (place, error)      { return place{}, errNotHere }
func (h *Host) takeScreen(context.Context) ([]byte, error)        { return nil, errNotHere }
func cameras(*Host) ([]camera, error)                             { return nil, errNotHere }
func cameraInput(camera) []string                                 { return nil }
