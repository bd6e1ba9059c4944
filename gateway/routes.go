package gateway

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// route is where the answers of a run go beside the gateway's own clients. Its
// text stands in the run's record; runs of one route may be answered together.
type route struct {
	channel, account, conversation, thread string
	chat                                   channel.ChatType
}

// sep cannot stand in any part: inbound refuses control characters.
const routeSep = "\x1f"

func (r route) String() string {
	if r.channel == "" {
		return ""
	}
	return strings.Join([]string{r.channel, r.account, r.conversation, r.thread, string(r.chat)}, routeSep)
}

func parseRoute(s string) (r route, ok bool) {
	p := strings.Split(s, routeSep)
	if len(p) != 5 {
		return r, false
	}
	return route{p[0], p[1], p[2], p[3], channel.ChatType(p[4])}, true
}

// surfaceAPI is the channel of routes that lead to programs. They hear their
// answer while they ask; nothing is delivered to them.
const surfaceAPI = "api"

// delivered reports whether answers leave by a messaging network.
func (r route) delivered() bool { return r.channel != surfaceAPI }

func (r route) target(replyTo string) channel.Target {
	return channel.Target{Account: r.account, Conversation: r.conversation, Thread: r.thread, ReplyTo: replyTo}
}
