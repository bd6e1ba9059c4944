package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scope says which direct messages share a session.
type Scope string

const (
	ScopeMain               Scope = "main"                     // all share the main one
	ScopePeer               Scope = "per-peer"                 // one a sender, whatever the channel
	ScopeChannelPeer        Scope = "per-channel-peer"         // one a channel and sender
	ScopeAccountChannelPeer Scope = "per-account-channel-peer" // one an account, channel and sender
)

// Chat is the kind of conversation a message comes from.
type Chat string

const (
	ChatDirect Chat = "direct"
	ChatGroup  Chat = "group"
	ChatRoom   Chat = "channel"
)

const (
	defaultAgent   = "main"
	defaultMain    = "main"
	defaultAccount = "default"
	// longestID of a key part; what is longer is cut and told apart by a hash,
	// so that a key always stays under the session store's limit.
	longestID = 96
)

// Keys are the rules that turn a message's origin into a session key.
type Keys struct {
	MainKey string // "" = main
	DMScope Scope  // "" = ScopeMain
	// IdentityLinks names people: alice → "NETWORK:123", "OTHER:456".
	IdentityLinks map[string][]string
	// Threads is what networks call a part of a group; "thread" for all others.
	Threads map[string]string
}

// Source is where a message comes from.
type Source struct {
	AgentID string // "" = main
	Channel string // the network
	Account string // "" = default
	Chat    Chat
	Peer    string // the sender; direct chats
	Group   string // the conversation; groups and rooms
	Thread  string // topic or thread of a group, may be empty
}

// ErrNoPeer: a message that does not say whom it is from gets no session.
var ErrNoPeer = errors.New("the message does not say where it comes from")

// Of returns the canonical key of the session that a message belongs to.
// Different origins never share a key unless the rules say so: whatever could
// be taken for another part of the key is escaped.
func (k Keys) Of(s Source) (string, error) {
	agent := s.AgentID
	if agent == "" {
		agent = defaultAgent
	}
	if s.Chat == ChatGroup || s.Chat == ChatRoom {
		if s.Group == "" || s.Channel == "" {
			return "", ErrNoPeer
		}
		return k.groupKey(agent, s.Channel, s.Chat, s.Group, s.Thread), nil
	}
	if k.DMScope == ScopeMain || k.DMScope == "" {
		return k.Main(agent), nil
	}
	if s.Peer == "" || s.Channel == "" {
		return "", ErrNoPeer
	}
	if person, ok := k.person(s.Channel, s.Peer); ok {
		// One person is one session on every channel: that is what a link is for.
		return "agent:" + agent + ":dm:" + escape(person), nil
	}
	peer := k.stranger(s.Peer)
	switch k.DMScope {
	case ScopePeer:
		return "agent:" + agent + ":dm:" + peer, nil
	case ScopeChannelPeer:
		return "agent:" + agent + ":" + escape(s.Channel) + ":dm:" + peer, nil
	case ScopeAccountChannelPeer:
		account := s.Account
		if account == "" {
			account = defaultAccount
		}
		return "agent:" + agent + ":" + escape(s.Channel) + ":" + escape(account) + ":dm:" + peer, nil
	}
	return "", fmt.Errorf("session.dmScope %q is not known", k.DMScope)
}

// Main is the key of an agent's main session.
func (k Keys) Main(agent string) string {
	if agent == "" {
		agent = defaultAgent
	}
	if k.MainKey == "" {
		return "agent:" + agent + ":" + defaultMain
	}
	return "agent:" + agent + ":" + escape(k.MainKey)
}

// person finds the name that a sender is linked to. Of several the first in
// the alphabet counts, so that the answer is always the same.
func (k Keys) person(channel, peer string) (string, bool) {
	for _, name := range slices.Sorted(maps.Keys(k.IdentityLinks)) {
		for _, id := range k.IdentityLinks[name] {
			c, p, ok := strings.Cut(id, ":")
			if ok && p == peer && peer != "" && name != "" && strings.EqualFold(c, channel) {
				return name, true
			}
		}
	}
	return "", false
}

// stranger escapes the id of a sender who is nobody's link. An id that reads
// like a linked person's name must not open that person's session.
func (k Keys) stranger(peer string) string {
	if _, taken := k.IdentityLinks[peer]; taken && peer != "" {
		return fmt.Sprintf("%%%02X", peer[0]) + escape(peer[1:])
	}
	return escape(peer)
}

func (k Keys) groupKey(agent, channel string, chat Chat, id, thread string) string {
	key := "agent:" + agent + ":" + escape(channel) + ":" + string(chat) + ":" + escape(id)
	if thread == "" {
		return key
	}
	return key + ":" + cmp.Or(k.Threads[channel], "thread") + ":" + escape(thread)
}

// escape makes an id of a network fit to be one part of a key.
func escape(id string) string {
	var b strings.Builder
	for i := 0; i < len(id); {
		r, n := utf8.DecodeRuneInString(id[i:])
		if r == utf8.RuneError && n == 1 || r == ':' || r == '%' || unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			for _, c := range []byte(id[i : i+n]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(id[i : i+n])
		}
		i += n
	}
	s := b.String()
	if len(s) <= longestID {
		return s
	}
	sum := sha256.Sum256([]byte(id))
	cut := s[:longestID/2]
	for len(cut) > 0 && !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	// "%~" cannot come from escaping, so a cut id is never a whole one.
	return cut + "%~" + hex.EncodeToString(sum[:16])
}
