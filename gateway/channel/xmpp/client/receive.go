package client

import (
	"mime"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/xmpp"
)

// message takes a message of the stream.
func (c *Client) message(l *link, counted uint32, m *message) error {
	it := item{link: l, counted: counted}
	old := m.Result != nil
	if r := m.Result; old {
		if m.From == c.address {
			m.From = ""
		}
		archive := bare(m.From)
		if l.gathered(m, archive) {
			return c.push(it)
		}
		l.mu.Lock()
		asked := l.pages[r.Query]
		l.mu.Unlock()
		inner := r.Forwarded.Message
		if asked != archiveSign+archive || inner == nil { // nobody else may put words into people's mouths
			return c.push(it)
		}
		if inner.Delay == nil {
			inner.Delay = r.Forwarded.Delay
		}
		inner.Stanza = []stanzaID{{ID: r.ID, By: archiveOwner(c, archive)}}
		m = inner
		m.Result = nil
		if archive != "" {
			m.From = archive + "/" + resource(m.From)
			m.Type = "groupchat"
		}
	}
	if m.Type == "error" {
		c.bounced(l, m)
		return c.push(it)
	}
	it.archive, it.id = c.archiveOf(m)
	if !old {
		if m.Type == "groupchat" && m.Delay == nil {
			c.echoed(l, m, it.id)
		}
		if it.id != "" && l.hold(it.archive, held{m, counted}) {
			return nil
		}
	}
	return c.deliver(it, m)
}

// deliver takes a message in its turn.
func (c *Client) deliver(it item, m *message) error {
	if it.id != "" && !c.fresh(it.archive, it.id) {
		it.archive, it.id = "", ""
		return c.push(it)
	}
	it.at = c.at(m)
	var in channel.Inbound
	var ok bool
	if m.Type == "groupchat" {
		if it.id == "" && c.isRoom(bare(m.From)) { // it has no archive: what came is told apart by its time
			it.archive, it.timed = bare(m.From), true
		}
		in, ok = c.inRoom(it.link, m)
	} else {
		in, ok = c.direct(m)
	}
	if ok {
		it.in = &in
		if m.Request != nil && m.ID != "" && m.Type != "groupchat" {
			it.receipt, it.receiver = m.ID, m.From
		}
	}
	return c.push(it)
}

// archiveSign begins what is noted of a query, so that our own archive, which has no
// name, differs from a query that nobody made.
const archiveSign = "of "

func archiveOwner(c *Client, archive string) string {
	if archive == "" {
		return c.address
	}
	return archive
}

// archiveOf says where a message is kept: in ours, or in the room's. Only they can
// say so.
func (c *Client) archiveOf(m *message) (archive, id string) {
	owner := c.address
	if m.Type == "groupchat" {
		archive = bare(m.From)
		owner = archive
	}
	for _, s := range m.Stanza {
		if s.By == owner && s.ID != "" {
			return archive, s.ID
		}
	}
	return "", ""
}

// fresh reports whether a message of an archive comes for the first time.
func (c *Client) fresh(archive, id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.seen.get(archive + " " + id); ok {
		return false
	}
	c.seen.put(archive+" "+id, struct{}{})
	return true
}

// direct is a message to us alone.
func (c *Client) direct(m *message) (in channel.Inbound, ok bool) {
	from := bare(m.From)
	switch {
	case from == "" || from == c.address || !xmpp.IsAddress(from): // our own, or a server's
		return in, false
	case c.isRoom(from): // a whisper: who it is from, nobody proves
		return in, false
	case m.Type != "" && m.Type != "chat" && m.Type != "normal":
		return in, false
	}
	in = channel.Inbound{
		Channel: xmpp.ID, Account: c.account, Chat: channel.Direct, Conversation: from, Label: from, SenderID: from,
		SenderName: localpart(from), MessageID: m.ID, At: c.at(m),
	}
	if in.MessageID == "" {
		if _, in.MessageID = c.archiveOf(m); in.MessageID == "" {
			in.MessageID = newID()
		}
	}
	if m.Replace != nil && m.Replace.ID != "" {
		in.MessageID, in.Edited = m.Replace.ID, true
	}
	if m.OMEMO != nil || m.OMEMO0 != nil {
		c.trouble("%s writes with OMEMO encryption, which Hearth cannot read. Let them switch it off for this conversation; the way to the "+
			"server is encrypted.", line(from, 100))
	}
	return in, c.words(&in, m)
}

// words are what a message says; false: nothing.
func (c *Client) words(in *channel.Inbound, m *message) bool {
	text := ""
	if len(m.Bodies) > 0 {
		text = m.Bodies[0].Text
	}
	if len(text) > longestText {
		text = text[:longestText]
		for !utf8.ValidString(text[len(text)-min(len(text), 4):]) && len(text) > longestText-4 {
			text = text[:len(text)-1]
		}
	}
	if m.Retract != nil { // what was said is said
		return false
	}
	text, in.ReplyToText = unquoted(text, m)
	for i, o := range m.OOB {
		if i >= mostFiles || !webAddress(o.URL) {
			continue
		}
		name := fileName(o.URL)
		in.Media = append(in.Media, channel.Media{URL: o.URL, Name: name, MIME: mime.TypeByExtension(strings.ToLower(path.Ext(name)))})
		if strings.TrimSpace(text) == o.URL {
			text = o.Desc
		}
	}
	in.Text = strings.TrimSpace(text)
	return in.Text != "" || len(in.Media) > 0
}

const (
	longestText = 128 << 10
	mostFiles   = 10
)

// unquoted takes from a text what stands in it only for programs that know no
// replies, and returns that as what was quoted.
func unquoted(text string, m *message) (own, quoted string) {
	if m.Reply == nil {
		return text, ""
	}
	for _, f := range m.Falls {
		if f.For != nsReply || len(f.Bodies) != 1 || f.Bodies[0].Start == nil || f.Bodies[0].End == nil {
			continue
		}
		runes := []rune(text)
		start, end := *f.Bodies[0].Start, *f.Bodies[0].End
		if start < 0 || end > len(runes) || start >= end {
			continue
		}
		var q []string
		for l := range strings.SplitSeq(strings.TrimSpace(string(runes[start:end])), "\n") {
			q = append(q, strings.TrimPrefix(strings.TrimPrefix(l, ">"), " "))
		}
		return string(runes[:start]) + string(runes[end:]), strings.Join(q, "\n")
	}
	return text, ""
}

// at is when a message was said.
func (c *Client) at(m *message) time.Time {
	now := c.now()
	if m.Delay != nil && !m.Delay.Stamp.IsZero() && m.Delay.Stamp.Before(now) {
		return m.Delay.Stamp
	}
	return now
}

// inRoom is a message of a room.
func (c *Client) inRoom(l *link, m *message) (in channel.Inbound, ok bool) {
	room, nick := bare(m.From), resource(m.From)
	l.mu.Lock()
	s := l.seats[room]
	own, sender := "", ""
	if s != nil {
		own = s.nick
		if m.Delay == nil { // who had the name then, nobody says
			sender = s.people[nick]
		}
	}
	l.mu.Unlock()
	if nick == "" || !c.isRoom(room) {
		return in, false
	}
	if own == "" {
		own = c.nick
	}
	_, stored := c.archiveOf(m)
	if nick == own {
		return in, false
	}
	id := stored
	if id == "" {
		id = m.ID
	}
	if id == "" {
		id = newID()
	}
	in = channel.Inbound{
		Channel: xmpp.ID, Account: c.account, Chat: channel.Group, Conversation: xmpp.RoomSign + room, Label: localpart(room),
		SenderID: sender, SenderName: nick, SenderHandle: nick, MessageID: id, At: c.at(m),
	}
	if sender == "" {
		in.SenderID = room + "/" + nick
	}
	c.mu.Lock()
	c.said.put(room+" "+id, m.From)
	if m.Replace != nil && m.Replace.ID != "" {
		id, known := c.ids.get(m.From + " " + m.Replace.ID)
		c.mu.Unlock()
		if !known {
			return in, false // of a message that we never had, or somebody else's
		}
		in.MessageID, in.Edited = id, true
	} else {
		if m.ID != "" {
			c.ids.put(m.From+" "+m.ID, id)
		}
		c.mu.Unlock()
	}
	if !c.words(&in, m) {
		return in, false
	}
	in.Command, in.Mentioned = addressed(in.Text, own)
	if m.Reply != nil && !in.Mentioned {
		c.mu.Lock()
		_, known := c.ours.get(room + " " + m.Reply.ID)
		c.mu.Unlock()
		in.Mentioned = known || m.Reply.To == room+"/"+own
	}
	return in, true
}

// addressed finds our name in a text: at its beginning it calls us, and what follows
// is for us; as a word elsewhere it names us.
func addressed(text, nick string) (command string, mentioned bool) {
	if nick == "" {
		return "", false
	}
	at := 0
	for at < len(text) {
		if len(text)-at >= len(nick) && strings.EqualFold(text[at:at+len(nick)], nick) {
			before, _ := utf8.DecodeLastRuneInString(text[:at])
			rest := text[at+len(nick):]
			after, _ := utf8.DecodeRuneInString(rest)
			if (at == 0 || !inWord(before)) && (rest == "" || !inWord(after)) {
				if strings.Trim(text[:at], "@ ") == "" {
					return strings.TrimSpace(strings.TrimLeft(rest, ":,! ")), true
				}
				return "", true
			}
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return "", false
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' }

// webAddress reports whether a file can be fetched from an address.
func webAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && len(s) <= 4096 && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// fileName is the last part of an address, as a name for people.
func fileName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "file"
	}
	name := line(path.Base(u.Path), 120)
	if name == "" || name == "." || name == "/" {
		return "file"
	}
	return name
}

// line makes one short line of a text.
func line(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return strings.TrimSpace(s)
}

// bare is an address without its resource.
func bare(address string) string { b, _, _ := strings.Cut(address, "/"); return b }

// resource is what stands behind it.
func resource(address string) string { _, r, _ := strings.Cut(address, "/"); return r }

// localpart is what stands before the @.
func localpart(address string) string { l, _, _ := strings.Cut(bare(address), "@"); return l }
