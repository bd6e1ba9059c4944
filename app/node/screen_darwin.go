package node

import "context"

func (h *Host) takeScreen(ctx context.Context) ([]byte, error) {
	return h.shoot(ctx, "/usr/sbin/screencapture", []string{"-x", "-t", "png", fileArg})
}
