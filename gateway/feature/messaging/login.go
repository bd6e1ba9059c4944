package messaging

import (
	"context"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/qrcode"
)

// How long a login is waited for, and how often it is looked at.
const (
	usualLogin   = 30 * time.Second
	longestLogin = 3 * time.Minute
	loginLook    = 100 * time.Millisecond
	// longestAsking is how long a connected account may take to say what it would ask for.
	longestAsking = 20 * time.Second
)

// loginStart is what a person does to log an account in: as soon as it asks for
// something, or when it is connected, or the time is over.
func (f *feature) loginStart(ctx context.Context, p protocol.WebLoginStartParams) (protocol.WebLogin, error) {
	if p.Answer != "" {
		return f.confirm(ctx, p)
	}
	if at, err := f.loggingIn(p.Channel, p.AccountID); err == nil && at.Connected {
		asking, cancel := context.WithTimeout(ctx, longestAsking)
		defer cancel()
		if err := f.o.Networks.Login(asking, at.Network, at.AccountID); err != nil {
			return protocol.WebLogin{}, protocol.Invalid("%v", err)
		}
	}
	return f.login(ctx, p.Channel, p.AccountID, p.TimeoutMs, func(l protocol.WebLogin) bool { return l.Connected || l.Ask != nil })
}

// confirm hands on what a person says of what they compared.
func (f *feature) confirm(ctx context.Context, p protocol.WebLoginStartParams) (l protocol.WebLogin, err error) {
	if p.Answer != "yes" && p.Answer != "no" || p.Compared == "" {
		return l, protocol.Invalid("answer is yes or no, and compared is what was shown")
	}
	at, err := f.loggingIn(p.Channel, p.AccountID)
	if err != nil {
		return l, err
	}
	if err := f.o.Networks.Confirm(ctx, at.Network, at.AccountID, p.Compared, p.Answer == "yes"); err != nil {
		return l, protocol.Invalid("%v", err)
	}
	return f.howFar(at)
}

// loginWait waits for the end of a login, or for another picture than the client has.
func (f *feature) loginWait(ctx context.Context, p protocol.WebLoginWaitParams) (protocol.WebLogin, error) {
	return f.login(ctx, p.Channel, p.AccountID, p.TimeoutMs, func(l protocol.WebLogin) bool {
		return l.Connected || p.CurrentQRDataURL != "" && l.QRDataURL != "" && l.QRDataURL != p.CurrentQRDataURL
	})
}

func (f *feature) login(
	ctx context.Context, network, account string, ms int64, done func(protocol.WebLogin) bool,
) (protocol.WebLogin, error) {
	within := usualLogin
	if ms > 0 {
		within = min(time.Duration(min(ms, longestLogin.Milliseconds()))*time.Millisecond, longestLogin)
	}
	end := time.NewTimer(within)
	defer end.Stop()
	look := time.NewTicker(loginLook)
	defer look.Stop()
	for {
		var l protocol.WebLogin
		at, err := f.loggingIn(network, account)
		if err == nil {
			l, err = f.howFar(at)
		}
		if err == nil && done(l) || err != nil && network != "" {
			return l, err
		}
		select {
		case <-look.C: // one may begin to ask
		case <-end.C:
			return l, err
		case <-ctx.Done():
			return l, ctx.Err()
		}
	}
}

// loggingIn is the account that is meant: without a network the first that asks for
// somebody.
func (f *feature) loggingIn(network, account string) (hub.AccountStatus, error) {
	all := f.o.Networks.Status()
	if account == "" {
		account = "default"
	}
	for _, a := range all {
		if network != "" && a.Network == network && a.AccountID == account ||
			network == "" && f.o.Networks.Asking(a.Network, a.AccountID).Kind != "" {
			return a, nil
		}
	}
	if network == "" {
		return hub.AccountStatus{}, protocol.Invalid("no account asks for somebody to log in: name its channel")
	}
	return hub.AccountStatus{}, protocol.Invalid("there is no account %q of %q: set it up first, with `hearth channels add %s`",
		account, network, network)
}

// howFar is the login of an account now.
func (f *feature) howFar(a hub.AccountStatus) (l protocol.WebLogin, err error) {
	label := f.o.Networks.Kinds.Label(a.Network)
	ask := f.o.Networks.Asking(a.Network, a.AccountID)
	switch {
	case ask.Kind != "":
		l.Message, l.Ask = ask.Words, &protocol.LoginAsk{Kind: string(ask.Kind), Value: ask.Value, ExpiresAtMs: ask.Until.UnixMilli()}
		if l.Message == "" {
			l.Message = map[channel.AskKind]string{channel.AskQR: "Scan this with the device that has " + label + ".",
				channel.AskCode: "Type this code where " + label + " asks for it.", channel.AskURL: "Open this address.",
				channel.AskConfirm: "Does the other device show the same?", channel.AskDecide: "Yes or no?",
				channel.AskText: label + " says this:"}[ask.Kind]
		}
		if ask.Kind == channel.AskQR {
			l.QRDataURL, err = qrcode.Picture(ask.Value)
		}
	case a.Connected:
		l.Connected, l.Message = true, label+" is connected."
	case a.LastError != "":
		l.Message = a.LastError
	default:
		l.Message = label + " is connecting."
	}
	return l, err
}
