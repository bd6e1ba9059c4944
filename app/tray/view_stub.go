//go:build !desktop

package main

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/app/tray/menu"
)

type noView struct{}

func newView() view { return noView{} }

func preflight(context.Context) error {
	return errors.New("this hearth-tray was built without a desktop (go build -tags desktop ./app/tray builds one that has it); run hearth " +
		"gateway instead")
}

func (noView) Run(context.Context, func(), func(menu.Action)) error { return nil }
func (noView) Show(menu.Icon, string, []menu.Item)                  {}
func (noView) Rebuild()                                             {}
