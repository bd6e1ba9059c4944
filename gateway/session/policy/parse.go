package policy

import "strings"

// Kind is the sort of session a key names.
type Kind string

const (
	KindMain    Kind = "main"
	KindDirect  Kind = "direct"
	KindGroup   Kind = "group"
	KindChannel Kind = "channel"
	KindThread  Kind = "thread" // a topic or thread of a group or channel
	KindCron    Kind = "cron"
	KindHook    Kind = "hook"
	KindNode    Kind = "node"
	KindOther   Kind = "other" // named by a client
)

// Named is what a key tells.
type Named struct {
	Agent   string
	Kind    Kind
	Channel string // "" when the key does not hold it
	Account string
	ID      string // of the peer, group, job, hook or node, as the key spells it
	Thread  string
}

// Parse reads a canonical key. Every key has a meaning; what follows no rule
// is KindOther.
func (k Keys) Parse(key string) Named {
	n := Named{Agent: defaultAgent, Kind: KindOther}
	rest := key
	if tail, ok := strings.CutPrefix(key, "agent:"); ok {
		if agent, name, ok := strings.Cut(tail, ":"); ok {
			n.Agent, rest = agent, name
		}
	}
	if "agent:"+n.Agent+":"+rest == k.Main(n.Agent) || rest == defaultMain {
		n.Kind = KindMain
		return n
	}
	for prefix, kind := range map[string]Kind{"cron:": KindCron, "hook:": KindHook, "node-": KindNode} {
		if id, ok := strings.CutPrefix(rest, prefix); ok {
			n.Kind, n.ID = kind, id
			return n
		}
	}
	p := strings.Split(rest, ":")
	switch {
	case len(p) == 2 && p[0] == "dm":
		n.Kind, n.ID = KindDirect, p[1]
	case len(p) == 2 && p[0] == "group": // from before channels had keys of their own
		n.Kind, n.ID = KindGroup, p[1]
	case len(p) == 3 && p[1] == "dm":
		n.Kind, n.Channel, n.ID = KindDirect, p[0], p[2]
	case len(p) == 4 && p[2] == "dm":
		n.Kind, n.Channel, n.Account, n.ID = KindDirect, p[0], p[1], p[3]
	case (len(p) == 3 || len(p) == 5) && (p[1] == string(ChatGroup) || p[1] == string(ChatRoom)):
		n.Kind, n.Channel, n.ID = Kind(p[1]), p[0], p[2]
		if len(p) == 5 && (p[3] == "topic" || p[3] == "thread") {
			n.Kind, n.Thread = KindThread, p[4]
		}
	}
	return n
}

// Chat is the kind of conversation that the session belongs to; "" when it is
// none.
func (n Named) Chat() Chat {
	switch n.Kind {
	case KindMain, KindDirect:
		return ChatDirect
	case KindGroup, KindThread:
		return ChatGroup
	case KindChannel:
		return ChatRoom
	}
	return ""
}
