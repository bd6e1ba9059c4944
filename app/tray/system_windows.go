package main

import (
	"context"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/windows"

	"github.com/hearth-assistant/hearth/app/notify"
	"github.com/hearth-assistant/hearth/app/power"
)

// hideConsole starts a console program without a window of its own.
func hideConsole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW}
}

func hasHost(context.Context) bool { return true }

func browse(_ context.Context, link string) error {
	return start("rundll32", "url.dll,FileProtocolHandler", link)
}

func notifications(chosen func(notify.Choice)) *notify.Desktop {
	return notify.New(notify.Options{Chosen: chosen, Now: time.Now})
}

func powers() power.Options { return power.Options{Now: time.Now} }

// alert shows a message that waits for nobody but the person.
func alert(title, text string) {
	t, err := windows.UTF16PtrFromString(title)
	if err != nil {
		return
	}
	m, err := windows.UTF16PtrFromString(strings.ReplaceAll(text, "\x00", ""))
	if err != nil {
		return
	}
	go func() { _, _ = windows.MessageBox(0, m, t, windows.MB_ICONINFORMATION|windows.MB_SETFOREGROUND) }()
}

func toClipboard(ctx context.Context, text string) error {
	cmd := exec.CommandContext(ctx, "clip")
	hideConsole(cmd)
	cmd.Stdin = strings.NewReader(text)
	return cmd.Run()
}
