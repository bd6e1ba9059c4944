package keychain

import (
	"context"
	"os"
)

// probe: the login keychain is open while its user is logged in, and its items
// are read through this program.
func probe(context.Context, func(string) string) State {
	if _, err := os.Stat("/usr/bin/security"); err != nil {
		return NoService
	}
	return Ready
}
