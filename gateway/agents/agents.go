// Package agents knows the assistants of a household and who of them answers a
// message: values in, values out. It reads no setting (package gateway fills
// it), opens no folder and keeps no session.
package agents

import "slices"

// Main is the agent that is always there.
const Main = "main"

// Agent is one assistant.
type Agent struct {
	ID                         string
	Name, Emoji, Avatar, Theme string
	Workspace                  string // absolute path
	Primary                    string // model, "provider/model"; "" = the default
	Fallbacks                  []string
	Skills                     []string // that it may use
	AllSkills                  bool     // Skills says nothing
	SkillChars                 int      // how long a prompt's list of them may be; 0 = the default
	Default                    bool
}

// Binding sends messages to an agent. An empty Account means the default one,
// "*" every account.
type Binding struct {
	Agent, Channel, Account string
	// PeerKind and PeerID name a chat; "" = every chat. A PeerID of "*" is every
	// chat of the kind, "<id>:topic:<topic>" one topic of a group.
	PeerKind, PeerID string
}

// Source is where a message came from.
type Source struct{ Channel, Account, Kind, Peer, Topic string }

// Book holds the agents and their bindings.
type Book struct {
	list     []Agent
	bindings []Binding
}

// New returns a book. Without an agent that is the default, the first one is;
// the main agent is added when it is missing, as main says.
func New(list []Agent, bindings []Binding, main Agent) *Book {
	list = slices.Clone(list)
	if !slices.ContainsFunc(list, func(a Agent) bool { return a.Default }) && len(list) > 0 {
		list[0].Default = true
	}
	if !slices.ContainsFunc(list, func(a Agent) bool { return a.ID == Main }) {
		main.ID, main.Default = Main, len(list) == 0
		list = append(list, main)
	}
	return &Book{list: list, bindings: slices.Clone(bindings)}
}

// All lists the agents.
func (b *Book) All() []Agent { return slices.Clone(b.list) }

// Default is the agent that answers what is bound to nobody.
func (b *Book) Default() Agent {
	return b.list[slices.IndexFunc(b.list, func(a Agent) bool { return a.Default })]
}

// Get finds an agent.
func (b *Book) Get(id string) (Agent, bool) {
	i := slices.IndexFunc(b.list, func(a Agent) bool { return a.ID == id })
	if i < 0 {
		return Agent{}, false
	}
	return b.list[i], true
}

// Route tells who answers, and by which binding (-1: none). The most specific
// one wins: a topic before its chat before all chats of a kind before an account
// before a channel; of equals, the first.
func (b *Book) Route(s Source) (agent string, binding int) {
	best, binding := 0, -1
	for i, x := range b.bindings {
		if n := x.fits(s); n > best {
			best, binding = n, i
		}
	}
	if binding >= 0 {
		return b.bindings[binding].Agent, binding
	}
	return b.Default().ID, -1
}

// fits is 0 when the binding is not about the source, and more the closer it is.
func (x Binding) fits(s Source) int {
	if x.Channel != s.Channel {
		return 0
	}
	n := 1
	switch x.Account {
	case "*":
	case "", "default":
		if s.Account != "" && s.Account != "default" {
			return 0
		}
		if n = 2; x.Account == "" {
			n = 1
		}
	case s.Account:
		n = 2
	default:
		return 0
	}
	switch {
	case x.PeerID == "":
		return n
	case x.PeerKind != s.Kind:
		return 0
	case s.Topic != "" && x.PeerID == s.Peer+":topic:"+s.Topic:
		return n + 6
	case x.PeerID == s.Peer:
		return n + 4
	case x.PeerID == "*":
		return n + 2
	}
	return 0
}
