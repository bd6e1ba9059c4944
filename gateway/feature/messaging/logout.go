package messaging

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// logoutTime bounds what the network is told.
const logoutTime = 40 * time.Second

// logout ends the login of an account: at the network, where it knows such a thing, and
// here, where its secrets are forgotten and it is stopped. Who may write to it stays.
func (f *feature) logout(
	ctx context.Context, by *server.Caller, p protocol.ChannelAccountParams,
) (out protocol.ChannelLoggedOut, err error) {
	f.accounts.Lock()
	defer f.accounts.Unlock()
	at, err := f.placeOf(strings.ToLower(strings.TrimSpace(p.Channel)), p.AccountID)
	if err == nil && !at.there() {
		err = at.missing()
	}
	if err != nil {
		return out, err
	}
	out = protocol.ChannelLoggedOut{Channel: at.kind.ID, AccountID: at.account}
	kept := at.logins()
	ended, linked, err := f.endLogin(ctx, at)
	switch {
	case err != nil:
		return out, err
	case !ended && len(kept) == 0:
		return out, at.noLogin()
	}
	if err := f.forget(ctx, at, kept); err != nil {
		return out, err
	}
	out.Cleared, out.LoggedOut = linked || len(kept) > 0, true
	out.EnvToken = slices.ContainsFunc(kept, func(l login) bool { return l.source == secret.SourceEnv })
	out.Message = at.loggedOut(ended, kept)
	f.o.Audit.Add(audit.Entry{Kind: audit.KindConfig, What: "logged out: " + at.kind.ID, Who: method.CallerName(by),
		Facts: map[string]string{"account": at.account}})
	return out, nil
}

// login is a secret with which the account logs in.
type login struct {
	key, source string
	where       string // what the setting refers to
}

// logins are those that the settings have.
func (at place) logins() (out []login) {
	a := at.network.Accounts()[at.account]
	for _, s := range at.kind.Settings {
		if v := a.Secret(s.Key); s.Form == channel.SecretText && !s.Stays && !v.IsZero() {
			r, refers := v.Ref()
			l := login{key: s.Key}
			if refers {
				l.source, l.where = r.Source, r.ID
			}
			out = append(out, l)
		}
	}
	return out
}

// endLogin tells the network; ended: it knows an end of logins, and there is none any more;
// linked: there was one.
func (f *feature) endLogin(ctx context.Context, at place) (ended, linked bool, err error) {
	l, can := channel.AsLogOuter(f.o.Networks.Find(at.kind.ID, at.account))
	if !can {
		return false, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, logoutTime)
	defer cancel()
	switch err := l.LogOut(ctx); {
	case err == nil:
		return true, true, nil
	case errors.Is(err, channel.ErrAuth): // it was over
		return true, false, nil
	case errors.Is(err, channel.ErrUncertain):
		return false, false, protocol.Unavailable(0, "nobody knows whether %s ended the login: %v. Nothing was forgotten here; look there, and "+
			"try again", at.kind.Label, err)
	default:
		return false, false, protocol.Unavailable(0, "%s was not told, so the login goes on and nothing was forgotten: %v. Try again when it is "+
			"connected, or end the login there; `hearth channels remove %s` takes the account out here", at.kind.Label, err, at.kind.ID)
	}
}

// noLogin is the answer where there is nothing to log out of.
func (at place) noLogin() error {
	what := at.kind.LogOut
	if what == "" {
		what = "It has no login of which anything is kept here"
	}
	return protocol.Invalid("%s (%s) cannot be logged out here, so nothing was changed. %s. `hearth channels stop %s` stops the account, "+
		"`hearth channels remove %s` takes it out of the settings", at.kind.Label, at.account, what, at.kind.ID, at.kind.ID)
}

// forget takes the logins out of the settings and from where keys are kept, and switches
// off an account that would be connected without them. A secret of another name, and one
// that stands elsewhere, is somebody's own: only what refers to it goes.
func (f *feature) forget(ctx context.Context, at place, kept []login) error {
	c, connects := changes{}, true
	for _, l := range kept {
		for _, name := range []config.Path{at.path(l.key), at.plain(l.key)} {
			if _, there, err := f.o.Settings.Snapshot().Get(name.String()); err == nil && there {
				c.set(name, nil)
			}
		}
		connects = connects && l.key != at.kind.Connects
	}
	if connects {
		c.set(at.switchOf(), false)
	}
	if len(c) > 0 {
		if _, err := f.change(ctx, c); err != nil {
			return err
		}
	}
	for _, l := range kept {
		for _, name := range []string{at.path(l.key).String(), at.plain(l.key).String()} {
			if l.source != secret.SourceKeychain || l.where != name {
				continue
			}
			if err := f.o.Keys.Store().Delete(ctx, name); err != nil && !errors.Is(err, secret.ErrNotFound) {
				return fmt.Errorf("the account was logged out, but its %s is still kept: %w", l.key, err)
			}
		}
	}
	f.o.Keys.Refresh(ctx)
	return nil
}

// loggedOut says what was done, and what is left.
func (at place) loggedOut(ended bool, kept []login) string {
	var words []string
	if ended {
		words = append(words, at.kind.Label+" has ended the login.")
	}
	var gone, elsewhere []string
	for _, l := range kept {
		gone = append(gone, l.key)
		if l.source != "" && !(l.source == secret.SourceKeychain && (l.where == at.path(l.key).String() || l.where == at.plain(l.key).String())) {
			elsewhere = append(elsewhere, l.source+":"+l.where)
		}
	}
	if len(gone) > 0 {
		words = append(words, "Hearth has forgotten "+strings.Join(gone, " and ")+".")
	}
	if len(elsewhere) > 0 {
		words = append(words, "What stands elsewhere was left there: "+strings.Join(elsewhere, ", ")+".")
	}
	if len(gone) > 0 && !ended {
		words = append(words, "At "+at.kind.Label+" it is still valid: revoke it there if somebody else may have it.")
	}
	words = append(words, "The account is stopped; who may write to it is kept.")
	return strings.Join(words, " ")
}
