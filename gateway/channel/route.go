package channel

import "strings"

// Webchat is where runs without a route come from: the gateway's own clients.
const Webchat = "webchat"

// API is the channel of routes that lead to programs. They hear their answer
// while they ask; nothing is delivered to them.
const API = "api"

// Route is where the answers of a run go beside the gateway's own clients. Its
// text stands in the run's record; runs of one route may be answered together.
type Route struct {
	Channel, Account, Conversation, Thread string
	Chat                                   ChatType
}

// GeneralTopic is the number of a forum's first topic, whose messages carry none.
const GeneralTopic = "1"

// routeSeparator cannot stand in any part: inbound refuses control characters.
const routeSeparator = "\x1f"

// String is the text of a route, "" for the zero Route.
func (r Route) String() string {
	if r.Channel == "" {
		return ""
	}
	return strings.Join([]string{r.Channel, r.Account, r.Conversation, r.Thread, string(r.Chat)}, routeSeparator)
}

// ParseRoute reads what String wrote; ok is false for everything else, "" too.
func ParseRoute(s string) (r Route, ok bool) {
	p := strings.Split(s, routeSeparator)
	if len(p) != 5 {
		return r, false
	}
	return Route{p[0], p[1], p[2], p[3], ChatType(p[4])}, true
}

// IsAPI reports whether the text of a route leads to a program.
func IsAPI(route string) bool { return strings.HasPrefix(route, API+routeSeparator) }

// Delivered reports whether answers leave by a messaging network.
func (r Route) Delivered() bool { return r.Channel != API }

// Target is where a message of the route is sent.
func (r Route) Target(replyTo string) Target {
	return Target{Account: r.Account, Conversation: r.Conversation, Thread: r.Thread, ReplyTo: replyTo}
}
