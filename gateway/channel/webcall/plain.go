package webcall

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// Plain says why a service could not be reached, for people who know no names of
// system calls. What it has no words for is as the network says it.
func Plain(err error) error {
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &dns):
		return fmt.Errorf("the address of %s was not found; is this computer connected to the network?", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("nothing listens at its address")
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return errors.New("no way leads to its address; is this computer connected to the network?")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errors.New("the other side closed the connection")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("it did not answer in time")
	}
	return err
}
