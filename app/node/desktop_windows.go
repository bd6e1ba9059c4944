package node

import (
	"context"
	"errors"
	"path/filepath"
)

func (h *Host) powershell() string {
	return filepath.Join(h.env("SystemRoot"), `System32\WindowsPowerShell\v1.0\powershell.exe`)
}

// The texts come as variables, so that nothing of them is read as script.
const toastScript = `[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$x = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$t = $x.GetElementsByTagName('text')
[void]$t.Item(0).AppendChild($x.CreateTextNode($env:HEARTH_TITLE))
[void]$t.Item(1).AppendChild($x.CreateTextNode($env:HEARTH_BODY))
$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe'
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show([Windows.UI.Notifications.ToastNotification]::new($x))`

func (h *Host) tellDesktop(ctx context.Context, title, body string) error {
	_, err := h.ask(ctx, h.powershell(), []string{"-NoProfile", "-NonInteractive", "-Command", toastScript}, "HEARTH_TITLE="+title,
		"HEARTH_BODY="+body)
	return err
}

func (h *Host) where(context.Context, uint32) (place, error) {
	return place{}, errors.New("not available on Windows in this version")
}
