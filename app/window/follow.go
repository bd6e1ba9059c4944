package window

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	view "github.com/wailsapp/wails/v2/pkg/runtime"

	"github.com/hearth-assistant/hearth/app/beside"
	"github.com/hearth-assistant/hearth/app/link"
	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// offer is what a link wants of this window that no page is asked about.
type offer struct {
	code string
	bad  error
}

// follow goes to a place, or to what a link from outside offers.
func (w *window) follow(ctx context.Context, arg string) {
	var o offer
	if link.Is(arg) {
		l, err := link.Parse(arg)
		arg, o = l.At(), offer{l.Code, err}
	}
	if w.ctx == nil { // it is about to open
		w.where, w.asks = arg, o
		return
	}
	w.visit(ctx, arg)
	if o != (offer{}) {
		w.asks = o
		go w.ask(ctx)
	}
}

// ask asks the person about what a link offered. The dialogs are the system's:
// no page can draw over them.
func (w *window) ask(ctx context.Context) {
	o := w.asks
	w.asks = offer{}
	switch {
	case o.bad != nil:
		w.say("Link not followed", "A link was opened with Hearth, but "+o.bad.Error()+".\n\nNothing was done.")
	case o.code != "":
		w.pair(ctx, o.code)
	}
}

// pair pairs this computer with the gateway of a code, if the person wants it.
// The gateway of this computer stays the one that everything uses.
func (w *window) pair(ctx context.Context, text string) {
	code, err := protocol.ParseSetupCode(text)
	if err == nil && code.Pin == "" {
		err = fmt.Errorf("it does not say which key that Hearth has")
	}
	if err != nil {
		w.say("Link not followed", "A link offers to pair this computer with another Hearth, but "+strings.TrimSuffix(err.Error(), ".")+".\n\n"+
			"Nothing was done.")
		return
	}
	const yes = "Yes"
	answer, err := view.MessageDialog(w.ctx, view.MessageDialogOptions{
		Type: view.QuestionDialog, Title: "Pair with another Hearth?", Buttons: []string{yes, "No"}, DefaultButton: "No", CancelButton: "No",
		Message: fmt.Sprintf("A link offers to pair this computer with the Hearth at\n\n    %s\n    key %s\n\n"+
			"Do it only if you asked for it, and if that Hearth shows the same key. Whoever runs it reads what you tell it. The Hearth of this "+
			"computer stays as it is.\n\nPair?",
			strings.Join(hosts(code.Addresses()), ", "), identity.Short(code.Pin)),
	})
	if err != nil || answer != yes {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	said, err := beside.Run(ctx, text, "hearth", "connect", "-")
	if err != nil {
		w.say("Not paired", said)
		return
	}
	w.say("Paired", said)
}

// hosts are the machines of addresses that were checked to be addresses.
func hosts(addresses []string) (out []string) {
	for _, a := range addresses {
		if u, err := url.Parse(a); err == nil && len(out) < 3 {
			out = append(out, u.Host)
		}
	}
	return out
}

func (w *window) say(title, text string) {
	if len(text) > 1200 {
		text = text[:1200]
	}
	_, _ = view.MessageDialog(w.ctx, view.MessageDialogOptions{Type: view.InfoDialog, Title: title, Message: strings.ToValidUTF8(text, "")})
}
