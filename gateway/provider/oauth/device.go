package oauth

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"
)

const (
	defaultInterval = 5 * time.Second
	maxInterval     = time.Minute
	defaultLife     = 15 * time.Minute
	maxLife         = time.Hour
)

// Device is a login with a code that the person types at the service.
type Device struct {
	URL      string // where to type it
	Complete string // the same with the code in it, when the service has that
	Code     string
	Expires  time.Time

	client   *Client
	service  Issuer
	device   string
	interval time.Duration
}

// Device asks for a code.
func (c *Client) Device(ctx context.Context, s Issuer) (*Device, error) {
	a, err := c.post(ctx, s, s.DeviceURL, url.Values{"scope": {strings.Join(s.Scopes, " ")}}, nil)
	switch {
	case err != nil:
		return nil, err
	case a.Error != "":
		return nil, refused(a)
	}
	d := &Device{URL: a.VerificationURI, Complete: a.Complete, Code: clean(a.UserCode), client: c, service: s, device: a.DeviceCode,
		interval: defaultInterval}
	if d.device == "" || d.Code == "" || len(d.Code) > 64 || !webPage(d.URL) {
		return nil, errors.New("the service answered without a code to type")
	}
	if !webPage(d.Complete) {
		d.Complete = ""
	}
	if n, err := a.Interval.Int64(); err == nil && n > 0 {
		d.interval = min(time.Duration(min(n, 3600))*time.Second, maxInterval)
	}
	life := defaultLife
	if n, err := a.ExpiresIn.Int64(); err == nil && n > 0 {
		life = min(time.Duration(min(n, 86400))*time.Second, maxLife)
	}
	d.Expires = c.now().Add(life)
	return d, nil
}

// webPage: what a browser may be sent to.
func webPage(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && len(s) < 2048
}

// Await asks until the person has typed the code.
func (d *Device) Await(ctx context.Context) (Tokens, error) {
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {d.device}}
	for {
		if err := d.client.wait(ctx, d.interval); err != nil {
			return Tokens{}, err
		}
		if !d.client.now().Before(d.Expires) {
			return Tokens{}, ErrExpired
		}
		a, err := d.client.post(ctx, d.service, d.service.TokenURL, form, nil)
		switch {
		case err != nil && ctx.Err() != nil:
			return Tokens{}, ctx.Err()
		case err != nil: // RFC 8628 3.5: a broken line is no answer; ask less often
			d.interval = min(2*d.interval, maxInterval)
		case a.Error == "authorization_pending":
		case a.Error == "slow_down":
			d.interval = min(d.interval+5*time.Second, maxInterval)
		default:
			return d.client.tokens(a)
		}
	}
}
