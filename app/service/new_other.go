//go:build !linux && !darwin && !windows

package service

import "context"

// New is this system's manager: there is none.
func New(Run, func(string) string) Manager { return none{} }

type none struct{}

func (none) Install(context.Context, Spec) (State, error) { return State{}, ErrNoManager }
func (none) Remove(context.Context, Spec) (State, error)  { return State{}, ErrNoManager }
func (none) Start(context.Context, Spec) (State, error)   { return State{}, ErrNoManager }
func (none) Stop(context.Context, Spec) (State, error)    { return State{}, ErrNoManager }
func (none) Status(context.Context, Spec) (State, error)  { return State{}, nil }
