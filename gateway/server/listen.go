package server

import (
	"context"
	"errors"
	"net"
	"strconv"
	"syscall"
)

const (
	// DefaultPort is OpenClaw's, so that its clients find us.
	DefaultPort = 18789
	// AnyPort is a free one that nobody looks for.
	AnyPort = -1
	// portTries is how many ports after the default one are tried.
	portTries = 20
)

// Listen opens a port on this machine's own address: the one that is named, or for
// 0 the first free one from DefaultPort on; AnyPort takes any.
func Listen(ctx context.Context, port int) (ln net.Listener, err error) {
	tries := 1
	if port == 0 {
		port, tries = DefaultPort, portTries
	}
	if port == AnyPort {
		port = 0
	}
	var lc net.ListenConfig
	for p := port; p < port+tries; p++ {
		ln, err = lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return ln, err
}
