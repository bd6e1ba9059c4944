//go:build goolm

package main

import (
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix/client"
)

func openMatrix(a channel.Account) (channel.Channel, error) { return client.New(a) }
