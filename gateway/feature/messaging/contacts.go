package messaging

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

// People on messaging networks: who may write, who is the owner, and whose
// conversation each of them is in. Three lists, and none makes another: allowFrom
// lets in, commands.ownerAllowFrom names the owner, and the book of contacts
// holds what was decided about each person.

func (f *feature) contactsList(context.Context, method.None) (protocol.ContactsList, error) {
	return f.people()
}

func (f *feature) people() (out protocol.ContactsList, err error) {
	out = protocol.ContactsList{Contacts: []protocol.Contact{}, Requests: []protocol.ContactRequest{}, Listed: f.listedSenders()}
	contacts, err := f.o.Contacts.Contacts()
	if err != nil {
		return out, err
	}
	for _, c := range contacts {
		out.Contacts = append(out.Contacts, protocol.Contact{
			Channel: c.Channel, Account: c.Account, ID: c.Reads(), Name: c.Name, Handle: c.Handle, Owner: c.Owner, Shared: c.Shared && !c.Owner,
			ApprovedAt: c.ApprovedAt,
		})
	}
	requests, err := f.o.Contacts.Requests()
	for _, r := range requests {
		out.Requests = append(out.Requests, protocol.ContactRequest{Channel: r.Channel, Account: r.Account, ID: r.Reads(), Name: r.Name,
			Handle: r.Handle, Code: r.Code, AskedAt: r.AskedAt, ExpiresAt: r.ExpiresAt})
	}
	return out, err
}

// listedSenders are the people whom the settings name, by network and account.
func (f *feature) listedSenders() []protocol.ListedSender {
	out := []protocol.ListedSender{}
	c := f.o.Settings.Snapshot().Config
	for _, k := range f.o.Networks.Kinds {
		network := k.ID
		owners := idsOn(network, hub.OwnersSection.Of(c))
		for account, a := range hub.Section(k).Of(c).InUse() {
			for _, id := range slices.Concat(idsOn(network, a.AllowFrom), owners) {
				s := protocol.ListedSender{Channel: network, Account: account, ID: id, Owner: slices.Contains(owners, id)}
				if !slices.Contains(out, s) {
					out = append(out, s)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b protocol.ListedSender) int {
		return cmp.Or(strings.Compare(a.Channel, b.Channel), strings.Compare(a.Account, b.Account), strings.Compare(a.ID, b.ID))
	})
	return out
}

// idsOn are the ids of a list that count on a network.
func idsOn(network string, list []string) (out []string) {
	for _, id := range list {
		if c, rest, ok := strings.Cut(id, ":"); ok {
			if c != network {
				continue
			}
			id = rest
		}
		if id != "" && id != "*" {
			out = append(out, id)
		}
	}
	return out
}

func (f *feature) contactsResolve(ctx context.Context, p protocol.ContactResolveParams) (protocol.OKResult, error) {
	var err error
	switch p.Decision {
	case "approve":
		_, err = f.o.Contacts.Approve(ctx, p.Channel, p.Code, contact.Rights{Owner: p.Owner, Shared: p.Shared})
	case "reject":
		_, err = f.o.Contacts.Reject(ctx, p.Channel, p.Code)
	default:
		return protocol.OKResult{}, protocol.InvalidParams(protocol.MethodContactsResolve, "decision must be approve or reject")
	}
	if err != nil {
		return protocol.OKResult{}, protocol.Invalid("%v", err)
	}
	return protocol.OKResult{OK: true}, nil
}

func (f *feature) contactsRemove(ctx context.Context, p protocol.ContactRemoveParams) (protocol.OKResult, error) {
	was, err := f.o.Contacts.Remove(ctx, p.Channel, p.Account, f.o.Networks.Kinds.Person(p.Channel, p.ID))
	return protocol.OKResult{OK: was}, err
}

// person names somebody by an id as people write it.
func (f *feature) person(network, account, id string) contact.Person {
	p := contact.Person{Channel: network, Account: account, ID: f.o.Networks.Kinds.Person(network, id)}
	if p.ID != id {
		p.Shown = id
	}
	return p
}

// contactsSet changes what a contact has, or somebody whom the settings let in.
func (f *feature) contactsSet(ctx context.Context, p protocol.ContactSetParams) (protocol.ContactsList, error) {
	list, err := f.people()
	if err != nil {
		return list, err
	}
	var people []contact.Person
	anywhere := p.Channel == ""
	means := func(network, id string) bool {
		kinds := f.o.Networks.Kinds
		return (anywhere || network == p.Channel) && kinds.Person(network, id) == kinds.Person(network, p.ID)
	}
	for _, c := range list.Contacts {
		if means(c.Channel, c.ID) && (p.Account == "" || p.Account == c.Account) {
			who := f.person(c.Channel, c.Account, c.ID)
			who.Name, who.Handle = c.Name, c.Handle
			people = append(people, who)
		}
	}
	for _, s := range list.Listed {
		who := f.person(s.Channel, s.Account, s.ID)
		known := func(o contact.Person) bool {
			return o.Channel == who.Channel && o.Account == who.Account && o.ID == who.ID
		}
		if means(s.Channel, s.ID) && (p.Account == "" || p.Account == s.Account) &&
			!slices.ContainsFunc(people, known) {
			people = append(people, who)
		}
	}
	for _, who := range people {
		if who.Channel != people[0].Channel {
			return list, protocol.Invalid("%q may write on %s and on %s; say which is meant: %s:%s", p.ID, people[0].Channel, who.Channel,
				who.Channel, p.ID)
		}
	}
	if len(people) == 0 && anywhere {
		return list, protocol.Invalid("nobody with the id %q may write; `hearth contacts` lists who may", p.ID)
	}
	if len(people) == 0 {
		return list, protocol.Invalid("nobody with the id %q may write on %s; `hearth contacts` lists who may", p.ID, p.Channel)
	}
	for _, who := range people {
		_, err := f.o.Contacts.Change(ctx, who, func(may *contact.Rights) {
			if p.Owner != nil {
				may.Owner = *p.Owner
			}
			if p.Shared != nil {
				may.Shared = *p.Shared
			}
		})
		if err != nil {
			return list, err
		}
	}
	return f.people()
}

// ownerless says who may write to a network where nobody is the owner: as after
// an update from a Hearth for which a list of senders was a list of owners.
func (f *feature) ownerless() (who []string) {
	list, err := f.people()
	if err != nil {
		return nil
	}
	for _, c := range list.Contacts {
		if c.Owner {
			return nil
		}
		who = append(who, c.Channel+":"+c.ID)
	}
	for _, s := range list.Listed {
		if s.Owner {
			return nil
		}
		if name := s.Channel + ":" + s.ID; !slices.Contains(who, name) {
			who = append(who, name)
		}
	}
	return who
}

// ownerlessProblem says so, and how the owner becomes the owner again.
func (f *feature) ownerlessProblem() (out []protocol.Problem) {
	who := f.ownerless()
	if len(who) == 0 {
		return nil
	}
	network, id, _ := strings.Cut(who[0], ":")
	k, known := f.o.Networks.Kinds.Get(network)
	if !known || len(hub.Section(k).Of(f.o.Settings.Snapshot().Config).InUse()) == 0 {
		return nil
	}
	return append(out, protocol.Problem{Code: "OWNER", Message: fmt.Sprintf("Nobody is the owner on %s, so everybody who writes there (%s) "+
		"is a guest with a conversation of their own. "+
		"If one of them is you, say so: `hearth contacts owner %s`.", f.o.Networks.Kinds.Label(network),
		strings.Join(who[:min(len(who), 3)], ", "), text.ShellWord(id))})
}

// checks: does each network work, is there an owner, and does somebody else share their conversation?
func (f *feature) checks(context.Context, protocol.DoctorParams) (out []protocol.HealthCheck) {
	warn := func(area string, p protocol.Problem) {
		what, advice, _ := strings.Cut(strings.TrimSuffix(p.Message, "."), ". ")
		out = append(out, protocol.HealthCheck{Area: area, State: protocol.CheckWarn, What: what, Advice: advice})
	}
	for _, p := range f.o.Networks.Problems() {
		warn("gateway", p)
	}
	for _, p := range f.ownerlessProblem() {
		warn("people", p)
	}
	for _, what := range f.leftOfMenus() {
		out = append(out, protocol.HealthCheck{Area: "settings", State: protocol.CheckWarn, What: what,
			Advice: "give it another name, or list fewer; `commands.native: false` and `commands.nativeSkills: false` leave room"})
	}
	contacts, err := f.o.Contacts.Contacts()
	if err != nil {
		return out
	}
	for _, p := range contacts {
		if p.Shared && !p.Owner {
			out = append(out, protocol.HealthCheck{
				Area: "people", State: protocol.CheckWarn,
				What: fmt.Sprintf("%s:%s shares your conversation, as you chose: what you say there can come up in an answer to them", p.Channel,
					p.Reads()),
				Advice: "give them one of their own: `hearth contacts conversation " + text.ShellWord(p.Reads()) + " own`",
			})
		}
	}
	return out
}
