// Package freeport finds ports of this computer for programs that tests and measurements
// start. It holds none: between the moment a port is found and the one at which a program
// listens, somebody else may take it. It owns no state.
package freeport

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/hearth-assistant/hearth/internal/random"
)

// Systems give ports from 32768 on (Linux; 49152 elsewhere) to each connection that goes out
// and to who asks for any. One of those is soon somebody else's where hundreds of tests
// connect at once; below are those that programs choose.
const (
	first = 20000
	last  = 32767
)

const tries = 200

// Find is a port of 127.0.0.1 at which nobody listens.
func Find() (int, error) {
	for range tries {
		port := first + random.Below(last-first+1)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			return 0, fmt.Errorf("give a port back: %w", err)
		}
		return port, nil
	}
	return 0, errors.New("no port from 20000 to 32767 is free")
}
