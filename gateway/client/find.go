package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Find reads where the gateway of a state folder is and the token it asks for.
// Whether it really runs shows only when it is dialled.
func Find(dir statedir.Dir) (url, token string, err error) {
	r, err := dir.ReadRuntime()
	if errors.Is(err, statedir.ErrNotRunning) {
		return "", "", &NotRunningError{Dir: dir}
	}
	if err != nil {
		return "", "", err
	}
	b, err := os.ReadFile(dir.Token())
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", fmt.Errorf("the gateway's token file %s is missing; restart the gateway to make a new one", dir.Token())
	}
	if err != nil {
		return "", "", fmt.Errorf("read the gateway's token: %w", err)
	}
	token = strings.TrimSpace(string(b))
	if token == "" {
		return "", "", fmt.Errorf("the gateway's token file %s is empty; restart the gateway to make a new one", dir.Token())
	}
	return r.URL, token, nil
}

// Open finds the gateway of a state folder and connects to it; it fills URL
// and Token of o. A gateway that is not there is a *NotRunningError.
func Open(ctx context.Context, dir statedir.Dir, o Options) (*Client, error) {
	url, token, err := Find(dir)
	if err != nil {
		return nil, err
	}
	o.URL, o.Token = url, token
	c, err := Dial(ctx, o)
	if Refused(err) {
		return nil, &NotRunningError{Dir: dir, Stale: true}
	}
	return c, err
}

// Refused reports whether the machine is there, and nobody listens at the
// address.
func Refused(err error) bool { return egress.Refused(err) }
