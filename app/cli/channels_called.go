package cli

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// called leads through what a network needs that calls the gateway: an address that is
// reached from outside, tried as far as that goes from here.
func (n *adding) called(ctx context.Context) error {
	if !n.kind.Called {
		return nil
	}
	path := channel.CallPath(n.kind.ID, n.account)
	needs := n.a.say(fmt.Sprintf("%s sends messages to an address on the internet. This machine needs one, for example:", n.kind.Label))
	more := n.a.say("docs/channels/called.md has other ways, and what anybody can do there.")
	command := "  tailscale funnel --bg --set-path /channels http://127.0.0.1:18789/channels\n"
	if err := n.a.errs().print("\n", needs, "\n", command, more, "\n"); err != nil {
		return err
	}
	address := "https://YOUR-NAME" + path
	for range most {
		word, err := n.line(ctx, n.a.say("By which name is this machine reached from outside? https://… (Enter: later):")+" ")
		if err != nil {
			return err
		}
		if word == "" {
			break
		}
		base, why := outside(word)
		if why == "" {
			why = n.probe(ctx, n.kind, base+path)
		}
		if why == "" {
			address = base + path
			if err := n.a.errs().print(green("✓ "), n.a.say("It is reached from outside."), "\n"); err != nil {
				return err
			}
			break
		}
		if err := n.a.errs().print(red("✗ "), line(n.a.say(why)), "\n"); err != nil {
			return err
		}
	}
	give := n.a.say(fmt.Sprintf("Give %s this address:", n.kind.Label))
	return n.a.errs().print("\n", give, "\n  ", bold(address), "\n", n.a.folded("  ", n.a.say(n.kind.CalledAs)), "\n")
}

// outside is the beginning of an address on the internet.
func outside(word string) (base, why string) {
	if !strings.Contains(word, "://") {
		word = "https://" + word
	}
	u, err := url.Parse(word)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return "", "networks call by https:// alone: type the name, like hearth.example.org"
	}
	return "https://" + u.Host, ""
}
