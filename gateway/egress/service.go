package egress

import (
	"context"
	"fmt"
	"net"
)

// DialPublic connects to a service that speaks no HTTP, at an address that
// everybody could reach.
func DialPublic(ctx context.Context, address string) (net.Conn, error) {
	return newGuard(Options{}).dial(ctx, "tcp", address)
}

// DialNamed connects to a service that a person named, wherever it is.
func DialNamed(ctx context.Context, address string) (net.Conn, error) {
	d := &net.Dialer{Timeout: connectTime}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, ErrUnreachable)
	}
	return conn, nil
}
