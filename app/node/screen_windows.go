package node

import "context"

// The file's name comes as a variable, so that nothing of it is read as script.
const screenScript = `Add-Type -AssemblyName System.Windows.Forms,System.Drawing
$b = [System.Windows.Forms.SystemInformation]::VirtualScreen
$p = New-Object System.Drawing.Bitmap $b.Width, $b.Height
$g = [System.Drawing.Graphics]::FromImage($p)
$g.CopyFromScreen($b.Left, $b.Top, 0, 0, $p.Size)
$p.Save($env:HEARTH_FILE, [System.Drawing.Imaging.ImageFormat]::Png)`

func (h *Host) takeScreen(ctx context.Context) ([]byte, error) {
	return h.shoot(ctx, h.powershell(), []string{"-NoProfile", "-NonInteractive", "-Command", screenScript}, true)
}
