//go:build !windows

package statedir

import (
	"errors"
	"syscall"
)

// IsFull reports whether an error means that a disk, or a person's share of it, is
// full.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
