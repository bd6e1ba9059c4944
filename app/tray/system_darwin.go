package main

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/app/notify"
	"github.com/hearth-assistant/hearth/app/power"
)

func hideConsole(*exec.Cmd) {}

func hasHost(context.Context) bool { return true }

func browse(_ context.Context, link string) error { return start("open", link) }

func notifications(chosen func(notify.Choice)) *notify.Desktop {
	return notify.New(notify.Options{Chosen: chosen, Now: time.Now, Script: func(ctx context.Context, args ...string) error {
		return exec.CommandContext(ctx, "osascript", args...).Run()
	}})
}

func powers() power.Options {
	return power.Options{Now: time.Now, Run: func(ctx context.Context, name string, args ...string) error {
		return exec.CommandContext(ctx, name, args...).Run()
	}}
}

func alert(string, string) {}

func toClipboard(ctx context.Context, text string) error {
	cmd := exec.CommandContext(ctx, "pbcopy")
	cmd.Stdin = strings.NewReader(text)
	return cmd.Run()
}
