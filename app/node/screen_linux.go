package node

import "context"

func (h *Host) takeScreen(ctx context.Context) ([]byte, error) {
	return h.firstShot(ctx, []shot{
		{"grim", []string{"-t", "png", "-"}, true, false},
		{"gnome-screenshot", []string{"-f", fileArg}, true, true},
		{"spectacle", []string{"-b", "-n", "-o", fileArg}, true, true},
		{"maim", []string{"--format=png"}, false, true},
		{"scrot", []string{"-o", fileArg}, false, true},
		{"import", []string{"-window", "root", "png:-"}, false, true},
	}, "on X11 install scrot or maim, on Wayland grim or gnome-screenshot")
}
