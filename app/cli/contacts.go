package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newContacts(a *app) *cobra.Command {
	list := func(ctx context.Context, _ []string) error { return listContacts(ctx, a) }
	resolve := func(decision string, get *letIn) func(context.Context, []string) error {
		return func(ctx context.Context, args []string) error {
			return resolveContact(ctx, a, args[0], decision, *get)
		}
	}
	var get, nothing letIn
	approve := &cobra.Command{Use: "approve CODE", Short: "Let somebody in who asked and showed you this code", Args: cobra.ExactArgs(1),
		RunE: a.run(resolve("approve", &get)),
		Long: "Let somebody in who asked and showed you this code. They get a conversation of their own;\n" +
			"yours stays yours. In a terminal you are asked which it is to be."}
	approve.Flags().BoolVar(&get.owner, "owner", false, "this is you: with the owner's commands and conversation")
	approve.Flags().BoolVar(&get.shared, "share", false, "they read and write in your own conversation")
	approve.Flags().BoolVar(&get.own, "own", false, "they get a conversation of their own, and you are not asked")
	approve.MarkFlagsMutuallyExclusive("owner", "share", "own")
	owner := &cobra.Command{Use: "owner ID", Short: "Say that somebody who may write is you: with the owner's commands and conversation",
		Args: cobra.ExactArgs(1)}
	no := owner.Flags().Bool("no", false, "they are not the owner (any more)")
	owner.RunE = a.run(func(ctx context.Context, args []string) error { return setOwner(ctx, a, args[0], !*no) })
	c := group("contacts", "See and choose who may write to Hearth from messaging networks",
		&cobra.Command{Use: "list", Short: "List who may write and who asks to", Args: cobra.NoArgs, RunE: a.run(list)},
		approve,
		&cobra.Command{Use: "reject CODE", Short: "Turn somebody away who asked", Args: cobra.ExactArgs(1),
			RunE: a.run(resolve("reject", &nothing))},
		owner,
		&cobra.Command{Use: "conversation ID own|shared", Short: "Choose whether somebody has a conversation of their own or is in yours",
			Args: cobra.ExactArgs(2),
			RunE: a.run(func(ctx context.Context, args []string) error { return setConversation(ctx, a, args[0], args[1]) })},
		&cobra.Command{Use: "remove CHANNEL ACCOUNT ID", Short: "Take somebody's right to write back", Args: cobra.ExactArgs(3),
			RunE: a.run(func(ctx context.Context, args []string) error { return removeContact(ctx, a, args) })},
	)
	c.RunE = a.run(list)
	return c
}

func listContacts(ctx context.Context, a *app) error {
	var res protocol.ContactsList
	if err := a.call(ctx, protocol.ScopePairing, protocol.MethodContactsList, nil, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if len(res.Requests) > 0 {
		var rows [][]string
		for _, r := range res.Requests {
			rows = append(rows, []string{r.Code, r.Channel, r.Account, r.ID, stamp(r.AskedAt), person(r.Name, r.Handle)})
		}
		if err := a.out().print(bold("These people ask to write; `hearth contacts approve CODE` lets one in:"), "\n"); err != nil {
			return err
		}
		if err := a.out().table([]string{"CODE", "CHANNEL", "ACCOUNT", "ID", "ASKED", "NAME"}, rows); err != nil {
			return err
		}
		if err := a.out().print("\n"); err != nil {
			return err
		}
	}
	var rows [][]string
	known := map[protocol.ListedSender]bool{}
	for _, c := range res.Contacts {
		what := "guest"
		if c.Owner {
			what = "owner"
		}
		known[protocol.ListedSender{Channel: c.Channel, Account: c.Account, ID: c.ID}] = true
		rows = append(rows, []string{c.Channel, c.Account, c.ID, what, conversationOf(c.Owner, c.Shared), stamp(c.ApprovedAt),
			person(c.Name, c.Handle)})
	}
	for _, s := range res.Listed {
		what := "guest"
		if s.Owner {
			what = "owner"
		}
		s.Owner = false
		if !known[s] {
			rows = append(rows, []string{s.Channel, s.Account, s.ID, what, conversationOf(what == "owner", false), "", "named in the settings"})
		}
	}
	if len(rows) == 0 {
		return a.out().print("Nobody may write: nobody was let in with a code, and the settings name nobody.\n")
	}
	return a.out().table([]string{"CHANNEL", "ACCOUNT", "ID", "IS", "CONVERSATION", "SINCE", "NAME"}, rows)
}

func conversationOf(owner, shared bool) string {
	if owner || shared {
		return "yours"
	}
	return "their own"
}

// letIn is what somebody gets who is let in.
type letIn struct{ owner, shared, own bool }

// askLetIn asks for it where a person sits at a terminal.
func askLetIn(a *app, who string) (get letIn, err error) {
	err = a.errs().print(bold(line(who)+" will be let in. Which conversation do they get?"), "\n",
		"  1  one of their own (what you say in yours never reaches them)\n  2  yours: they read and write in it\n"+
			"  3  yours, because this is me: with the owner's commands\n")
	if err != nil {
		return get, err
	}
	in := bufio.NewReader(a.input())
	for {
		if err := a.errs().print("Number (Enter: 1): "); err != nil {
			return get, err
		}
		word, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return get, fmt.Errorf("read the answer: %w", err)
		}
		switch strings.TrimSpace(word) {
		case "", "1":
			return letIn{own: true}, nil
		case "2":
			return letIn{shared: true}, nil
		case "3":
			return letIn{owner: true}, nil
		}
		if err != nil { // nobody types any more
			return letIn{own: true}, nil
		}
	}
}

func setOwner(ctx context.Context, a *app, id string, owner bool) error {
	words := "That is you now: in direct messages with the owner's commands and your conversation.\n" +
		"For groups too, add it to commands.ownerAllowFrom in the settings."
	if !owner {
		words = "They are a guest now, with a conversation of their own."
	}
	shared := false
	return setContact(ctx, a, id, protocol.ContactSetParams{Owner: &owner, Shared: &shared}, words)
}

func setConversation(ctx context.Context, a *app, id, which string) error {
	shared := which == "shared"
	switch which {
	case "shared":
		return setContact(ctx, a, id, protocol.ContactSetParams{Shared: &shared}, "They read and write in your conversation now. `hearth "+
			"contacts conversation "+text.ShellWord(line(id))+" own` takes it back.")
	case "own":
		return setContact(ctx, a, id, protocol.ContactSetParams{Shared: &shared}, "They have a conversation of their own now.")
	}
	return &failure{exitUsage, "the conversation is own or shared, not " + line(which),
		"`hearth contacts conversation " + text.ShellWord(line(id)) + " own`"}
}

// setContact changes somebody by their id, with or without the network before it.
func setContact(ctx context.Context, a *app, id string, p protocol.ContactSetParams, words string) error {
	p.ID = id
	if network, rest, ok := strings.Cut(id, ":"); ok {
		p.Channel, p.ID = network, rest
	}
	var res protocol.ContactsList
	err := a.call(ctx, protocol.ScopePairing, protocol.MethodContactsSet, p, &res)
	var refusal *protocol.Error
	if errors.As(err, &refusal) && refusal.Code == protocol.CodeInvalidRequest {
		return &failure{exitFailure, refusalWords(refusal), "`hearth contacts` lists who may write; a stranger writes first and is let in with " +
			"their code"}
	}
	if err != nil {
		return err
	}
	return a.done(res, words)
}

// person is how somebody calls themselves, which proves nothing.
func person(name, handle string) string {
	if handle != "" {
		name += " (@" + strings.TrimPrefix(handle, "@") + ")"
	}
	return text.Ellipsis(line(strings.TrimSpace(name)), 80)
}

func resolveContact(ctx context.Context, a *app, code, decision string, get letIn) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopePairing}})
	if err != nil {
		return err
	}
	defer c.Close()
	// A code belongs to one network; its list says to which.
	var asks protocol.ContactsList
	if err := c.Call(ctx, protocol.MethodContactsList, nil, &asks); err != nil {
		return err
	}
	code = strings.ToUpper(strings.TrimSpace(code))
	for _, r := range asks.Requests {
		if r.Code != code {
			continue
		}
		who := line(person(r.Name, r.Handle) + " on " + r.Channel)
		if decision == "approve" && get == (letIn{}) && !a.asJSON && a.InTerminal {
			if get, err = askLetIn(a, who); err != nil {
				return err
			}
		}
		p := protocol.ContactResolveParams{Channel: r.Channel, Code: code, Decision: decision, Owner: get.owner, Shared: get.shared}
		var res protocol.OKResult
		if err := c.Call(ctx, protocol.MethodContactsResolve, p, &res); err != nil {
			return err
		}
		if decision == "reject" {
			return a.done(res, "Turned away: "+who+".")
		}
		return a.done(res, "Let in: "+who+", "+map[letIn]string{{owner: true}: "as you, the owner.",
			{shared: true}: "into your conversation."}[letIn{owner: get.owner, shared: get.shared}]+
			map[bool]string{true: "with a conversation of their own. `hearth contacts conversation " + text.ShellWord(line(r.ID)) +
				" shared` would open yours to them."}[!get.owner && !get.shared])
	}
	return &failure{exitFailure, "nobody asks with the code " + line(code), "codes end after an hour; `hearth contacts` lists those that " +
		"count, and a new message brings a new code"}
}

func removeContact(ctx context.Context, a *app, args []string) error {
	var res protocol.OKResult
	p := protocol.ContactRemoveParams{Channel: args[0], Account: args[1], ID: args[2]}
	if err := a.call(ctx, protocol.ScopePairing, protocol.MethodContactsRemove, p, &res); err != nil {
		return err
	}
	if !res.OK {
		return &failure{exitFailure, "there is no contact " + line(strings.Join(args, " ")), "`hearth contacts` lists them; people in " +
			"allowFrom are removed with `hearth config`"}
	}
	return a.done(res, "Removed. They can ask again.")
}

// done ends a command that changed something.
func (a *app) done(v any, words string) error {
	if a.asJSON {
		return a.out().json(v)
	}
	return a.out().print(words, "\n")
}
