package admission

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/hearth-assistant/hearth/gateway/pairing"
)

// ErrPage: a page in a browser asked that is not Hearth's own.
var ErrPage = errors.New("this is for programs, not for pages of others in a browser")

// TokenError is a pairing.ErrClientUnknown that knows what the token was for.
type TokenError struct {
	Need pairing.ClientScope
	None bool // no token came at all
}

func (e *TokenError) Error() string {
	create := "hearth tokens create NAME"
	switch e.Need {
	case pairing.ClientChat, pairing.ClientModels, pairing.ClientEmbeddings: // a token has these when nothing else is said
	default:
		create += " --scope " + string(e.Need)
	}
	if e.None {
		return fmt.Sprintf("a token is needed here, and none came; `%s` makes one, send it in the header `Authorization: Bearer TOKEN`", create)
	}
	return fmt.Sprintf("this token is not one that Hearth knows, or it was revoked or has expired; `%s` makes a new one", create)
}

// Is implements errors.Is.
func (*TokenError) Is(target error) bool { return target == pairing.ErrClientUnknown }

// Refusal is why a request is not let in, as HTTP says it.
type Refusal struct {
	Status int
	Text   string
	Wait   time.Duration // until another try makes sense, 0: nobody knows
}

func (r *Refusal) Error() string { return r.Text }

// Refused is what an error of Admit means; ok is false for every other error, whose
// words are not for those who ask. Another *Refusal is itself.
func Refused(err error) (r *Refusal, ok bool) {
	var wait *pairing.ClientWaitError
	var scope *pairing.ClientScopeError
	switch {
	case errors.As(err, &r):
		return r, true
	case errors.As(err, &wait):
		return &Refusal{http.StatusTooManyRequests, wait.Error(), wait.Wait}, true
	case errors.As(err, &scope):
		return &Refusal{Status: http.StatusForbidden, Text: scope.Error()}, true
	case errors.Is(err, ErrPage):
		return &Refusal{Status: http.StatusForbidden, Text: err.Error()}, true
	case errors.Is(err, pairing.ErrClientUnknown):
		return &Refusal{Status: http.StatusUnauthorized, Text: err.Error()}, true
	}
	return nil, false
}

// Mark sets the headers that go with a refusal.
func (r *Refusal) Mark(h http.Header) {
	if r.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="Hearth"`)
	}
	if r.Wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int((r.Wait+time.Second-1)/time.Second)))
	}
	h.Set("Cache-Control", "no-store")
}

// ownPage reports whether a request comes from a program, or from the page that its
// own address serves. A browser names the page, and no page can leave that out.
func ownPage(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	return len(origins) == 0 || len(origins) == 1 && (origins[0] == "http://"+r.Host || origins[0] == "https://"+r.Host)
}
