package client

import (
	"net"
	"time"
)

// How soon a connection to another machine is known to be dead. The gateway's
// ticks would tell after a minute; the machine's network tells earlier, and costs
// nothing while data comes: an address that is gone answers no probe.
const (
	probeAfter  = 6 * time.Second
	probeEvery  = 2 * time.Second
	probes      = 3
	unconfirmed = probeAfter + probes*probeEvery // how long sent data may stay so
)

// outward dials other machines.
func outward() *net.Dialer {
	return &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: probeAfter, Interval: probeEvery, Count: probes},
		Control:         impatient,
	}
}
