// Package probe tries the address at which a network is to call this gateway, from
// here. It owns that one request and what its answer says of the way; how the address
// is made known is the person's business.
package probe

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

// tryTime is how long the way around may take.
const tryTime = 20 * time.Second

// Address calls an address at which a network is to call an account, as a stranger
// would, and says what is in the way; "" when the account's own refusal came back.
// That shows the way from here: whether the network goes it too only the network can
// show.
func Address(ctx context.Context, k channel.Kind, address string) (problem string) {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	req, err := http.NewRequest(http.MethodPost, address, strings.NewReader("{}"))
	if err != nil {
		return "that is no address"
	}
	req.Header.Set("Content-Type", "application/json")
	c := webcall.Client()
	defer c.CloseIdleConnections()
	resp, err := webcall.Open(ctx, c, req)
	if err != nil {
		return fmt.Sprintf("%s is not reached: %v", address, err)
	}
	defer func() { _ = resp.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
	switch {
	case resp.StatusCode == http.StatusUnauthorized && strings.Contains(string(said), channel.NotProven(k.Label)):
		return ""
	case resp.StatusCode == http.StatusNotFound && strings.Contains(string(said), "No network calls here"):
		return "Hearth is reached, and this account is not running"
	case resp.StatusCode == http.StatusServiceUnavailable:
		return "Hearth is reached, and the account's program is not ready yet"
	}
	return fmt.Sprintf("%s leads to something else, which answers %s: its proxy has to hand the path on as it is", address, resp.Status)
}
