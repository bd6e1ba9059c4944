package answers

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/outbound/reply"
	"github.com/hearth-assistant/hearth/gateway/outbound/sendfile"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// attach makes files that can be sent of those that a model named in what it
// says to a chat. What cannot be sent is said instead of being left out.
func (n *Networks) attach(run session.Run, r channel.Route, p reply.Payload) reply.Payload {
	if len(p.Media) == 0 {
		return p
	}
	dir := n.Agents.Named(session.AgentOf(run.SessionKey)).Workspace
	var files []channel.Media
	for _, named := range p.Media {
		m, err := n.Files.Named(dir, named.URL, r.Channel, r.Account)
		if err == nil && !sendfile.Web(m) && (!run.Owner || !asked(run) || r.Chat != channel.Direct) {
			err = errors.New("files of this computer are sent to its owner's own chat only")
		}
		if err != nil {
			p.Text = strings.TrimSpace(p.Text + "\n\n" + notSent(named.URL, err))
			continue
		}
		files = append(files, m)
	}
	p.Media = files
	return p
}

func notSent(ref string, err error) string {
	if r := []rune(ref); len(r) > 120 {
		ref = string(r[:119]) + "…"
	}
	return fmt.Sprintf("(%s was not sent: %v.)", strings.ReplaceAll(ref, "`", "'"), err)
}
