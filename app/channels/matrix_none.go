//go:build !goolm

package main

import (
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// openMatrix says that there is none: without the tag the encryption would need C.
func openMatrix(channel.Account) (channel.Channel, error) {
	return nil, fmt.Errorf("%w: this hearth-channels was built without Matrix. Install that of a release, or build it with -tags goolm",
		channel.ErrRefused)
}
