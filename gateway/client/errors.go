package client

import (
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

var (
	// ErrClosed is the end of a connection that this side closed.
	ErrClosed = errors.New("the connection to the gateway was closed")
	// ErrLost is the end of a connection that broke or that the gateway
	// closed. Whether a request in flight was carried out is not known.
	ErrLost = errors.New("the connection to the gateway was lost")
	// ErrUnreachable means that no connection came about.
	ErrUnreachable = errors.New("the gateway cannot be reached")
	// ErrSilent is a lost connection too: nothing was heard for two ticks.
	ErrSilent = fmt.Errorf("%w: it has been silent for too long", ErrLost)
	// ErrSlow means that OnEvent took so long that events piled up to the limit.
	ErrSlow = errors.New("this program read the gateway's events too slowly and was disconnected")
	// ErrPlaintext refuses an address that would carry a token in clear text.
	ErrPlaintext = errors.New("refusing a plain-text connection to another machine: anybody on the network could read the token; use a " +
		"wss:// address")
)

// NotRunningError says that no gateway answers for a state folder. It wraps
// statedir.ErrNotRunning.
type NotRunningError struct {
	Dir   statedir.Dir
	Stale bool // a runtime file is there, but nobody listens: the gateway did not stop in good order
}

func (e *NotRunningError) Error() string {
	if e.Stale {
		return fmt.Sprintf("the Hearth gateway is not running: it was stopped without warning and left %s behind; start it with `hearth gateway`",
			e.Dir.RuntimeFile())
	}
	return statedir.ErrNotRunning.Error()
}

func (e *NotRunningError) Unwrap() error { return statedir.ErrNotRunning }
