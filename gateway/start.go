package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"github.com/hearth-assistant/hearth/gateway/rescue"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

const (
	// DefaultPort is OpenClaw's, so that its clients find us.
	DefaultPort = 18789
	// portTries is how many ports after the default one are tried.
	portTries = 20
)

// StartError is a reason not to start that a restart does not mend.
type StartError struct {
	What string // what happened
	Err  error  // why
	Fix  string // what to do, without a full stop
}

func (e *StartError) Error() string {
	s := e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s + ". " + e.Fix + "."
}

func (e *StartError) Unwrap() error { return e.Err }

// damagedError says it to whoever starts the gateway.
func damagedError(dir statedir.Dir, err error) error {
	return &StartError{What: "Hearth's database cannot be used", Err: err, Fix: rescue.Advice(dir)}
}

// listen opens the port: the one that was asked for, or the first free one
// from the default on.
func (g *Gateway) listen(ctx context.Context) error {
	port, tries := g.opts.Port, 1
	if port == 0 {
		port = g.config.Snapshot().Config.Gateway.Port
	}
	if port == 0 {
		port, tries = DefaultPort, portTries
	}
	var lc net.ListenConfig
	var err error
	for p := port; p < port+tries; p++ {
		g.ln, err = lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return &StartError{What: fmt.Sprintf("Port %d on this machine cannot be used", port), Err: err, Fix: "Stop the program that holds it, " +
		"or choose another port with gateway.port or --port"}
}

// port is where the gateway listens on this machine.
func (g *Gateway) port() int { return g.ln.Addr().(*net.TCPAddr).Port }
