package provider

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
)

// Kinds of failure that clients tell apart.
const (
	KindRefusal       = "refusal"
	KindTimeout       = "timeout"
	KindRateLimit     = "rate_limit"
	KindContextLength = "context_length"
	KindUnknown       = "unknown"
)

// Explain puts a failed model call into words for people: what happened, why,
// and what to do next. ref is the model that was asked; it counts only where
// err does not say it.
func Explain(err error, ref model.Ref) (message, kind string) {
	var (
		u *UnavailableError
		e *model.Error
		s *failover.SummaryError
	)
	switch {
	case errors.As(err, &s):
		return exhausted(s, ref)
	case errors.As(err, &u):
		return u.Message, KindUnknown
	case errors.As(err, &e):
		if e.Ref.Provider == "" {
			c := *e
			c.Ref = ref
			e = &c
		}
		return explain(e), kindOf(e.Class)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("The answer of %s was stopped because it took longer than allowed. What had arrived is kept. Send the message "+
			"again, or allow more time.", who(ref)), KindTimeout
	case errors.Is(err, context.Canceled):
		return "The answer was stopped. What had arrived is kept. Send the message again to start over.", KindUnknown
	}
	return fmt.Sprintf("Asking %s failed for a reason that Hearth does not know. Send the message again; if it fails again, pick another "+
		"model and look into `hearth logs`.", who(ref)), KindUnknown
}

func kindOf(c model.Class) string {
	switch c {
	case model.ClassRefusal:
		return KindRefusal
	case model.ClassTimeout:
		return KindTimeout
	case model.ClassRateLimit:
		return KindRateLimit
	case model.ClassContext:
		return KindContextLength
	}
	return KindUnknown
}

// who names a model: "Claude Sonnet …" is not known here, its service is.
func who(ref model.Ref) string {
	if ref.Provider == "" {
		return "the model"
	}
	return nameOf(ref.Provider)
}

// explain has one sentence for what happened and why, and one for what to do.
func explain(e *model.Error) string {
	s, known := lookup(e.Ref.Provider)
	name := who(e.Ref)
	local := known && s.local
	switch e.Class {
	case model.ClassAuth:
		return name + " did not accept the API key" + because(e) + " " + keyAdvice(e.Ref.Provider, s, known)
	case model.ClassBilling:
		return name + " says that there is no credit left for this request" + because(e) + " Add credit in your account there, or pick " +
			"another model."
	case model.ClassRateLimit:
		return name + " limits how much you may ask at a time, and the limit is reached" + because(e) + " " + later(e.RetryAfter) + ", or " +
			"pick another model."
	case model.ClassOverloaded:
		return name + " is overloaded right now" + because(e) + " " + later(e.RetryAfter) + ", or pick another model."
	case model.ClassServer:
		return name + " had an internal failure" + because(e) + " Send the message again; if it stays, pick another model." + localLog(local,
			name)
	case model.ClassTimeout:
		return timeoutWords(name, local)
	case model.ClassConnect:
		return connectWords(e, name, s, local)
	case model.ClassInterrupted:
		return "The connection to " + name + " broke off before the answer was complete. What had arrived is kept. Send the message again."
	case model.ClassMalformed:
		return name + " sent something that Hearth could not read" + because(e) + fmt.Sprintf(" Send the message again; if it stays, check "+
			"models.providers.%s.baseUrl and api, or pick another model.", e.Ref.Provider)
	case model.ClassEmpty:
		return name + " returned nothing" + because(e) + " Send the message again, or pick another model."
	case model.ClassContext:
		return fmt.Sprintf("This conversation is too long for %s%s Start a new chat, or pick a model with a larger context.", e.Ref.Model,
			because(e))
	case model.ClassNoModel:
		return fmt.Sprintf("%s has no model called %q, or your account may not use it%s %s", name, e.Ref.Model, because(e), getModel(e.Ref, s))
	case model.ClassRefusal:
		return name + " declined to answer this" + because(e) + " Put it differently, or pick another model."
	case model.ClassInvalid:
		return name + " did not accept the request" + because(e) + " " + invalidAdvice(e)
	}
	return name + " failed" + because(e) + " Send the message again, or pick another model."
}

// because is the end of the first sentence: status and the service's words.
func because(e *model.Error) string {
	detail := strings.TrimRight(e.Detail, ". ")
	switch {
	case e.Status != 0 && detail != "":
		return fmt.Sprintf(" (HTTP %d: %s).", e.Status, detail)
	case e.Status != 0:
		return fmt.Sprintf(" (HTTP %d).", e.Status)
	case detail != "":
		return fmt.Sprintf(" (%s).", detail)
	}
	return "."
}

func keyAdvice(id string, s service, known bool) string {
	if !known || len(s.keyEnv) == 0 {
		return fmt.Sprintf("Check the key: run `hearth config set models.providers.%s.apiKey YOUR_KEY`.", id)
	}
	where := ""
	if s.keyPage != "" {
		where = " You get a key at " + s.keyPage + "."
	}
	return fmt.Sprintf("Give a new one: `hearth models auth add %s` asks for it and tries it. Or start Hearth with %s set.%s", id, s.keyEnv[0],
		where)
}

// later says when to try again.
func later(wait time.Duration) string {
	switch {
	case wait <= 0:
		return "Try again in a minute"
	case wait < 2*time.Second:
		return "Try again in a moment"
	case wait <= 2*time.Minute:
		return fmt.Sprintf("Try again in %d seconds", int((wait+time.Second-1)/time.Second))
	case wait <= 2*time.Hour:
		return fmt.Sprintf("Try again in %d minutes", int((wait+time.Minute-1)/time.Minute))
	}
	return fmt.Sprintf("Try again in %d hours", int((wait+time.Hour-1)/time.Hour))
}

func localLog(local bool, name string) string {
	if local {
		return " The log of " + name + " says more."
	}
	return ""
}

func timeoutWords(name string, local bool) string {
	s := name + " was silent for too long. What had arrived is kept. "
	if local {
		return s + "The model may be too large for this computer: send the message again, or pick a smaller model."
	}
	return s + "Send the message again, or pick another model."
}

func connectWords(e *model.Error, name string, s service, local bool) string {
	if words := certificateWords(e, name); words != "" {
		return words
	}
	if local || nearby(e) {
		return "Hearth could not reach " + name + because(e) + " Is it running? Start " + cmp.Or(s.start, "its server") +
			", or pick another model."
	}
	return "Hearth could not reach " + name + because(e) + " Check the internet connection, VPN or proxy and send the message again, or " +
		"pick another model."
}

// nearby: what could not be reached is on this computer, so the internet has no part in it.
func nearby(err error) bool {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "dial" { // "proxyconnect": the service may be anywhere
		return false
	}
	at, ok := op.Addr.(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// certificateWords are for a server that cannot prove who it is; "" for other
// failures. Nothing was sent to it.
func certificateWords(e *model.Error, name string) string {
	var (
		invalid x509.CertificateInvalidError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
	)
	const other = " If it stays, try another network, or pick another model."
	switch {
	case errors.As(e.Err, &invalid) && invalid.Reason == x509.Expired:
		return "The certificate of " + name + " does not hold today: it has ended, or this computer's clock is wrong. Nothing was sent. Set " +
			"the date and the time of this computer and send the message again." + other
	case errors.As(e.Err, &unknown):
		return "Nobody that this computer trusts vouches for the server that answered in the place of " + name + ", so nothing was sent. A " +
			"virus scanner or a company's proxy may stand between: add its certificate to this computer's, or leave it out." + other
	case errors.As(e.Err, &host):
		return "The server that answered in the place of " + name + " is another one by its certificate, so nothing was sent. A hotel's or a " +
			"company's network may want you to log in first: open a page in the browser." + other
	case errors.As(e.Err, &invalid):
		return "The certificate of " + name + " is not valid, so nothing was sent." + other
	}
	return ""
}

func getModel(ref model.Ref, s service) string {
	if s.api == APIOllama {
		return fmt.Sprintf("Get it with `ollama pull %s`, or pick another model.", ref.Model)
	}
	return "Pick another model."
}

func invalidAdvice(e *model.Error) string {
	if e.Status == 404 || e.Status == 405 || (e.Status >= 300 && e.Status < 400) || e.Status == 0 {
		return fmt.Sprintf("Check models.providers.%s.baseUrl: the address is probably wrong.", e.Ref.Provider)
	}
	if e.Status == 403 {
		return "Something between here and there blocks it, such as a firewall, a VPN or a rule for your country: try another network, or " +
			"pick another model."
	}
	return "Start a new chat or pick another model; if it stays, look into `hearth logs`."
}
