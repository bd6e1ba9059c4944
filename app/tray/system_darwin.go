package main

import (
	"context"
	"os/exec"
	"strings"
)

func hideConsole(*exec.Cmd) {}

func hasHost(context.Context) bool { return true }

func browse(_ context.Context, link string) error { return start("open", link) }

// tell shows a notification; the texts are handed over as arguments, never as
// part of the script.
func tell(ctx context.Context, title, text string) {
	_ = exec.CommandContext(ctx, "osascript", "-e", "on run a", "-e", "display notification (item 2 of a) with title (item 1 of a)", "-e", "end run", title, text).Run()
}

func toClipboard(ctx context.Context, text string) error {
	cmd := exec.CommandContext(ctx, "pbcopy")
	cmd.Stdin = strings.NewReader(text)
	return cmd.Run()
}
