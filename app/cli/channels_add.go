package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/probe"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newChannelsAdd(a *app) *cobra.Command {
	var account string
	c := &cobra.Command{
		Use: "add [NETWORK]", Short: "Set up an account on a messaging network, step by step", Args: cobra.MaximumNArgs(1),
		Long: "Set up an account on a messaging network: what to do there, its settings one by one, its\n" +
			"secrets into the keychain. It is tried at once, and counts as connected when you wrote to\n" +
			"it and its answer came back to you. Ctrl-C leaves nothing behind. It needs a running gateway.",
		RunE: a.run(func(ctx context.Context, args []string) error { return addChannel(ctx, a, account, args) }),
	}
	c.Flags().StringVar(&account, "account", "default", "the `NAME` of the account, where a network has several")
	return c
}

// adding is an account that is being set up.
type adding struct {
	*wizard
	in      *bufio.Reader
	secret  func(prompt string) (string, error) // reads without showing
	kind    channel.Kind
	account string
	given   map[string]string // by the keys of the settings
	added   protocol.ChannelAdded
	// probe calls an address from outside, and says what is in the way.
	probe func(ctx context.Context, k channel.Kind, address string) (problem string)
}

func addChannel(ctx context.Context, a *app, account string, args []string) error {
	if !a.InTerminal {
		return usage("this asks questions: run it in a terminal, or set the keys with `hearth config set` (docs/configuration.md)")
	}
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeAdmin}})
	if err != nil {
		return err
	}
	defer c.Close()
	n := &adding{wizard: &wizard{a: a, c: c}, in: bufio.NewReader(a.input()), secret: a.typed, account: account,
		given: map[string]string{}, probe: probe.Address}
	return n.whole(ctx, args)
}

// whole is the whole way. What fails or is given up before the end is taken back.
func (n *adding) whole(ctx context.Context, args []string) (err error) {
	if n.kind, err = n.choose(ctx, args); err != nil {
		return err
	}
	if err := n.free(ctx); err != nil {
		return err
	}
	if err := n.ask(ctx); err != nil {
		return err
	}
	defer func() {
		if err != nil && ctx.Err() != nil { // wherever it was stopped
			err = errInterrupted
		}
		if err != nil {
			err = errors.Join(err, n.takeBack(context.WithoutCancel(ctx)))
		}
	}()
	if err := n.keep(ctx); err != nil {
		return err
	}
	if err := n.connects(ctx); err != nil {
		return err
	}
	if err := n.called(ctx); err != nil {
		return err
	}
	return n.greets(ctx)
}

// choose finds the network that was named, or asks.
func (n *adding) choose(ctx context.Context, args []string) (channel.Kind, error) {
	kinds := gateway.Networks()
	var ids []string
	for _, k := range kinds {
		ids = append(ids, k.ID)
	}
	if len(args) == 1 {
		k, ok := kinds.Get(strings.ToLower(args[0]))
		if !ok {
			return k, usage("there is no network %q; there are %s", line(args[0]), strings.Join(ids, ", "))
		}
		return k, nil
	}
	for i, k := range kinds {
		if err := n.a.errs().print(fmt.Sprintf("  %d  %s\n", i+1, k.Label)); err != nil {
			return channel.Kind{}, err
		}
	}
	word, err := n.line(ctx, n.a.say("Which network? Number or name:")+" ")
	if err != nil {
		return channel.Kind{}, err
	}
	if i, err := strconv.Atoi(word); err == nil && i >= 1 && i <= len(kinds) {
		return kinds[i-1], nil
	}
	if k, ok := kinds.Get(strings.ToLower(word)); ok {
		return k, nil
	}
	return channel.Kind{}, usage("there is no network %q; there are %s", line(word), strings.Join(ids, ", "))
}

// line asks for a line, and hidden for a secret. Whoever stops it need not end the
// line first.
func (n *adding) line(ctx context.Context, words string) (string, error) {
	return interrupted(ctx, func() (string, error) { return n.question(n.in, words) })
}

func (n *adding) hidden(ctx context.Context, words string) (string, error) {
	return unseen(ctx, int(os.Stdin.Fd()), func() (string, error) { return n.secret(words) })
}

// path is where the account stands in the settings.
func (n *adding) path() config.Path {
	if n.account == "default" {
		return config.At("channels", n.kind.ID)
	}
	return config.At("channels", n.kind.ID, "accounts", n.account)
}

// free refuses to change an account that is there.
func (n *adding) free(ctx context.Context) error {
	s, err := n.a.settings(ctx)
	if err != nil {
		return err
	}
	at := n.path().String()
	if _, there, err := s.Get(at + "." + n.kind.Connects); err == nil && there {
		return &failure{exitFailure, at + " is set up already", "name another account with --account NAME, or remove this one: " +
			"hearth channels remove " + n.kind.ID}
	}
	return nil
}

// ask asks for every setting, and says what to do at the network first.
func (n *adding) ask(ctx context.Context) error {
	if err := n.a.errs().print(bold(n.kind.Label), "\n"); err != nil {
		return err
	}
	for i, step := range n.kind.SetUp {
		if err := n.a.errs().print(n.a.folded(fmt.Sprintf("  %d  ", i+1), n.a.say(step)), "\n"); err != nil {
			return err
		}
	}
	words := n.a.say("Now its settings. Enter takes what is in brackets, or leaves one out.")
	if err := n.a.errs().print("\n", words, "\n"); err != nil {
		return err
	}
	for _, s := range n.kind.Settings {
		if s.Rare || s.OneOf && n.kind.Lacks(n.given) == "" { // the other one was given
			continue
		}
		if err := n.askOne(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// most is how often a setting that cannot be is asked for again.
const most = 5

func (n *adding) askOne(ctx context.Context, s channel.Setting) error {
	usual := s.Unset
	if s.Form == channel.OnOff {
		usual = map[bool]string{true: "yes", false: "no"}[s.On]
	}
	if n.kind.IsNeeded(s) {
		usual = n.a.say("it is needed")
	}
	prompt := fmt.Sprintf("%s: %s", s.Key, n.a.say(s.About))
	if keys := n.kind.OneOf(); s.OneOf && s.Key != keys[len(keys)-1] {
		usual = n.a.say("none: another one is asked for")
	} else if s.OneOf {
		usual = n.a.say("it is needed")
	}
	if s.File != "" {
		prompt = n.a.say(fmt.Sprintf("%s, or the whole path of a file with it", prompt))
	}
	if usual != "" {
		prompt += " [" + n.a.say(usual) + "]"
	}
	prompt = n.a.folded("", prompt) + ": "
	wrong := ""
	for range most {
		var word string
		var err error
		if s.Form == channel.SecretText {
			word, err = n.hidden(ctx, prompt)
		} else {
			word, err = n.line(ctx, prompt)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", s.Key, err)
		}
		why := n.take(s, strings.TrimSpace(word))
		if why == "" {
			return nil
		}
		if wrong = ""; strings.TrimSpace(word) != "" {
			wrong = why
		}
		if err := n.a.errs().print(red("✗ "), line(n.a.say(why)), "\n"); err != nil {
			return err
		}
	}
	if wrong != "" {
		return &failure{exitFailure, "nothing was set up: " + line(s.Key+": "+wrong), "docs/channels/" + n.kind.ID + ".md says what it is"}
	}
	return &failure{exitFailure, "nothing was set up: " + s.Key + " is missing", "docs/channels/" + n.kind.ID + ".md says what it is"}
}

// take keeps an answer; why says what is wrong with it.
func (n *adding) take(s channel.Setting, word string) (why string) {
	value, why := n.kind.Answer(s, word)
	if why == "" && value != nil {
		n.given[s.Key] = word
	}
	if keys := n.kind.OneOf(); why == "" && s.OneOf && s.Key == keys[len(keys)-1] {
		return n.kind.Lacks(n.given)
	}
	return why
}

// keep has the gateway set the account up.
func (n *adding) keep(ctx context.Context) error {
	if slices.ContainsFunc(n.kind.Secrets(), func(key string) bool { return n.given[key] != "" }) {
		if err := n.a.keepable(ctx, n.c); err != nil {
			return err
		}
	}
	p := protocol.ChannelAddParams{Channel: n.kind.ID, AccountID: n.account, Values: n.given}
	// Who stops it now is heard when it is known what was kept, so that it can be taken back.
	whole, done := context.WithTimeout(context.WithoutCancel(ctx), connectTime)
	defer done()
	if err := n.c.Call(whole, protocol.MethodChannelsAdd, p, &n.added); err != nil {
		return err
	}
	for key, why := range n.added.Wrong {
		return &failure{exitFailure, "nothing was set up: " + line(key+": "+why), "docs/channels/" + n.kind.ID + ".md says what it is"}
	}
	return n.notes(n.added.Notes)
}

func (n *adding) notes(notes []string) error {
	for _, note := range notes {
		if err := n.a.errs().print(yellow("Note: "), line(n.a.say(note)), "\n"); err != nil {
			return err
		}
	}
	return nil
}

// takeBack removes what was kept of an account that is not connected.
func (n *adding) takeBack(ctx context.Context) error {
	if !n.added.OK {
		return nil
	}
	p := protocol.ChannelRemoveParams{Channel: n.kind.ID, AccountID: n.account, KeepRules: !n.added.Fresh}
	if err := n.c.Call(ctx, protocol.MethodChannelsRemove, p, nil); err != nil {
		return err
	}
	return n.a.errs().print("\n", n.a.say("Nothing of it was kept."), "\n")
}

// connectTime is how long an account may take to connect, and loginTime how long it
// may ask for somebody.
const (
	connectTime = 90 * time.Second
	loginTime   = 10 * time.Minute
)

// connects waits until the account is connected, and tells what is in its way.
func (n *adding) connects(ctx context.Context) error {
	if err := n.a.errs().print("\n", n.a.say("Connecting to the network …"), "\n"); err != nil {
		return err
	}
	said := n.a.errorWords()
	told, was, late, ended := "", shownAsk{}, time.Now().Add(loginTime), 0
	end := time.NewTimer(connectTime)
	defer end.Stop()
	for look := time.NewTicker(lookAgain / 4); ; {
		var res protocol.ChannelsStatus
		if err := n.c.Call(ctx, protocol.MethodChannelsStatus, nil, &res); err != nil {
			return err
		}
		for _, acc := range res.ChannelAccounts[n.kind.ID] {
			if acc.AccountID == n.account && acc.State == string(channel.Failed) {
				ended++ // for good: it does not try again by itself
			}
			switch {
			case acc.AccountID != n.account:
			case acc.Connected:
				look.Stop()
				return n.a.errs().print(green("✓ "), n.a.say("The account is connected."), "\n")
			case acc.LastError != told:
				told = acc.LastError
				if err := n.a.errs().print(yellow("  … "), line(said(told)), "\n"); err != nil {
					return err
				}
			}
		}
		waits, err := n.show(ctx, &was)
		if err != nil {
			return err
		}
		if waits && time.Now().Before(late) {
			end.Reset(connectTime)
		}
		if !waits && ended > 1 { // the first may be left of an account that was there before
			look.Stop()
			return &failure{exitFailure, n.kind.Label + " is not connected. " + line(told),
				"correct what it says and run this again; docs/channels/" + n.kind.ID + ".md tells more"}
		}
		select {
		case <-look.C:
		case <-end.C:
			look.Stop()
			return &failure{exitFailure, fmt.Sprintf("%s was not connected within %v. %s", n.kind.Label, connectTime, line(told)),
				"correct what it says and run this again; docs/channels/" + n.kind.ID + ".md tells more"}
		case <-ctx.Done():
			look.Stop()
			return errInterrupted
		}
	}
}

// first says how they write to the account: by the nick that was typed, where it has one.
func (n *adding) first() string {
	words := n.a.say(n.kind.First)
	for _, s := range n.kind.Settings {
		if s.Key == "nick" {
			words = strings.ReplaceAll(words, "NICK", cmp.Or(n.given[s.Key], s.Unset))
		}
	}
	return words
}

// greets waits for a first message, and for the code that answers it to be typed
// here: then both ways are known to work, and who wrote is the person here.
func (n *adding) greets(ctx context.Context) error {
	if err := n.a.errs().print("\n", n.a.say("Now write to it."), " ", n.first(), "\n"); err != nil {
		return err
	}
	r, err := n.firstMessageOn(ctx, n.kind.ID, n.account)
	if err != nil {
		return err
	}
	if r == nil {
		return &failure{exitFailure, "nobody wrote within " + span(hiTime), "run this again when you can write to it"}
	}
	for range most {
		who := line(person(r.Name, r.Handle))
		code, err := n.line(ctx, n.a.say(fmt.Sprintf("%s wrote, and was sent a code. Type it here (Enter: none came):", who))+" ")
		if err != nil {
			return err
		}
		if code == "" {
			return &failure{exitFailure, "a message came in, and its answer did not arrive", "`hearth deliveries` and `hearth logs` say what " +
				"became of it"}
		}
		if !strings.EqualFold(code, r.Code) {
			if err := n.a.errs().print(red("✗ "), n.a.say("That is another code."), "\n"); err != nil {
				return err
			}
			continue
		}
		if err := n.c.Call(ctx, protocol.MethodContactsResolve, protocol.ContactResolveParams{Channel: r.Channel, Code: r.Code,
			Decision: "approve", Owner: true}, nil); err != nil {
			return err
		}
		if err := n.a.out().print(green("✓ "), n.a.say(fmt.Sprintf("%s is connected: your message came in, and its answer reached you. "+
			"That chat has your commands and your conversation.", n.kind.Label)), "\n"); err != nil {
			return err
		}
		return n.places()
	}
	return &failure{exitFailure, "no code that was typed is the one that was sent", "run this again"}
}

// places says how the account gets to answer in the channels or rooms that were given: it
// sits there, and says nothing before a setting allows it.
func (n *adding) places() error {
	for _, key := range []string{"channels", "rooms"} {
		list := n.given[key]
		listed := func(s channel.Setting) bool { return s.Key == key && s.Form == channel.WordList }
		if list == "" || !slices.ContainsFunc(n.kind.Settings, listed) {
			continue
		}
		rules := map[string]struct{}{}
		for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }) {
			rules[name] = struct{}{}
		}
		raw, err := json.Marshal(rules)
		if err != nil {
			return fmt.Errorf("write the names of groups: %w", err)
		}
		command := "hearth config set " + n.path().String() + ".groups " + text.ShellWord(string(raw))
		return n.a.out().print("\n", n.a.say("In groups it is silent until you let it answer there, when it is named:"), "\n  ", command, "\n")
	}
	return nil
}
