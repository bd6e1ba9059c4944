package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"syscall"
)

// What a system says of a connection that does not come about or ends. Windows has
// numbers of its own (WSAECONNREFUSED and so on), which Go's names of errors there
// are not.
var (
	refused     = []error{syscall.ECONNREFUSED, syscall.Errno(10061)}
	unreachable = []error{syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.Errno(10051), syscall.Errno(10065)}
	closed      = []error{syscall.ECONNRESET, syscall.EPIPE, syscall.Errno(10053), syscall.Errno(10054)}
)

// Plain says why a service could not be reached, for people who know no names of
// system calls. What it has no words for is as the network says it, without the
// request that was made.
func Plain(err error) error {
	var dns *net.DNSError
	var timeout net.Error
	var request *url.Error
	switch {
	case errors.As(err, &dns):
		return fmt.Errorf("the address of %s was not found; is this computer connected to the network?", dns.Name)
	case Refused(err):
		return errors.New("nothing listens at its address")
	case says(err, unreachable):
		return errors.New("no way leads to its address; is this computer connected to the network?")
	case says(err, closed):
		return errors.New("the other side closed the connection")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("it did not answer in time")
	case errors.As(err, &request):
		return request.Err
	}
	return err
}

// Refused reports whether the machine is there, and nobody listens at the address.
func Refused(err error) bool { return says(err, refused) }

func says(err error, these []error) bool {
	return slices.ContainsFunc(these, func(one error) bool { return errors.Is(err, one) })
}
