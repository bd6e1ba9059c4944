package client

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-message"
	"github.com/emersion/go-msgauth/authres"
	"github.com/emersion/go-msgauth/dkim"
	"golang.org/x/net/publicsuffix"

	"github.com/hearth-assistant/hearth/internal/sleep"
)

const (
	mostSignatures = 5
	// mostAge is how long after it was written a message proves anything: whoever got
	// a signed message can send it again.
	mostAge = 14 * 24 * time.Hour
	// tries is how often keys are asked for when the name service does not answer.
	tries    = 3
	keysTime = 30 * time.Second
)

// proven reports with nil that the sender of a message is who it says. From is only
// what somebody wrote: what proves it is a signature of its domain, or our own mail
// server that says so. The message must also be addressed to us, and new: a signed
// message to somebody else is theirs to pass on.
func (c *Client) proven(ctx context.Context, raw []byte, l *letter) error {
	if !slices.Contains(l.to, c.address) {
		return fmt.Errorf("%w: it is not addressed to %s", errUnproven, c.address)
	}
	if age := c.now().Sub(l.date); age > mostAge || age < -mostAge {
		return fmt.Errorf("%w: it is of another time", errUnproven)
	}
	domain := l.from[strings.LastIndexByte(l.from, '@')+1:]
	if c.results != "" && c.said(raw, domain) {
		return nil
	}
	var why error
	for n := range tries {
		if n > 0 && sleep.For(ctx, time.Duration(n)*5*time.Second) != nil {
			return ctx.Err()
		}
		again := false
		if again, why = c.signed(ctx, raw, domain); why == nil || !again {
			break
		}
	}
	return why
}

// said: our own server says that the sender is proven. Its word is the topmost.
func (c *Client) said(raw []byte, domain string) bool {
	e, err := message.ReadWithOptions(bytes.NewReader(raw), &message.ReadOptions{MaxHeaderBytes: headerBytes})
	if e == nil || err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) {
		return false
	}
	own, results, err := authres.Parse(e.Header.Get("Authentication-Results"))
	if err != nil || !strings.EqualFold(own, c.results) {
		return false
	}
	for _, r := range results {
		switch r := r.(type) {
		case *authres.DMARCResult:
			if r.Value == authres.ResultPass && strings.EqualFold(r.From, domain) {
				return true
			}
		case *authres.DKIMResult:
			if r.Value == authres.ResultPass && aligned(r.Domain, domain) {
				return true
			}
		}
	}
	return false
}

// signed: the sender's domain has signed the message. again: the name service did not
// answer, and may later.
func (c *Client) signed(ctx context.Context, raw []byte, domain string) (again bool, err error) {
	ctx, stop := context.WithTimeout(ctx, keysTime)
	defer stop()
	list, err := dkim.VerifyWithOptions(bytes.NewReader(crlf(raw)), &dkim.VerifyOptions{
		LookupTXT:        func(name string) ([]string, error) { return c.texts(ctx, name) },
		MaxVerifications: mostSignatures,
	})
	why := fmt.Errorf("%w: %s has not signed it", errUnproven, domain)
	if err != nil && len(list) == 0 {
		return false, fmt.Errorf("%w: %w", errUnproven, err)
	}
	for _, v := range list {
		switch {
		case !aligned(v.Domain, domain):
		case v.Err != nil:
			again = again || dkim.IsTempFail(v.Err)
			why = fmt.Errorf("%w: the signature of %s does not hold: %w", errUnproven, v.Domain, v.Err)
		case !covers(v.HeaderKeys, "message-id", "date"):
			why = fmt.Errorf("%w: %s has not signed its id and time", errUnproven, v.Domain)
		case !v.Expiration.IsZero() && c.now().After(v.Expiration):
			why = fmt.Errorf("%w: the signature of %s is too old", errUnproven, v.Domain)
		default:
			return false, nil
		}
	}
	return again, why
}

func covers(signed []string, keys ...string) bool {
	for _, key := range keys {
		if !slices.ContainsFunc(signed, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), key) }) {
			return false
		}
	}
	return true
}

// aligned reports whether a signer may sign for a sender: both belong to one
// registered domain.
func aligned(signer, sender string) bool {
	signer, sender = strings.ToLower(signer), strings.ToLower(sender)
	if signer == sender {
		return signer != ""
	}
	a, err := publicsuffix.EffectiveTLDPlusOne(signer)
	if err != nil {
		return false
	}
	b, err := publicsuffix.EffectiveTLDPlusOne(sender)
	return err == nil && a == b
}

// crlf is a message with the line ends that were signed.
func crlf(raw []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
}
