package client

import (
	"encoding/xml"
	"time"
)

// Namespaces of what is said beside texts.
const (
	nsClient   = "jabber:client"
	nsStanzas  = "urn:ietf:params:xml:ns:xmpp-stanzas"
	nsSM       = "urn:xmpp:sm:3"
	nsSID      = "urn:xmpp:sid:0"
	nsMAM      = "urn:xmpp:mam:2"
	nsForward  = "urn:xmpp:forward:0"
	nsReply    = "urn:xmpp:reply:0"
	nsCorrect  = "urn:xmpp:message-correct:0"
	nsRetract  = "urn:xmpp:message-retract:1"
	nsUpload   = "urn:xmpp:http:upload:0"
	nsPing     = "urn:xmpp:ping"
	nsInfo     = "http://jabber.org/protocol/disco#info"
	nsItems    = "http://jabber.org/protocol/disco#items"
	nsMUC      = "http://jabber.org/protocol/muc"
	nsChat     = "http://jabber.org/protocol/chatstates"
	nsReceipts = "urn:xmpp:receipts"
	nsReact    = "urn:xmpp:reactions:0"
	nsOOB      = "jabber:x:oob"
)

// message is a message of either direction. A pointer that is nil is an element
// that is not there.
type message struct {
	XMLName xml.Name `xml:"jabber:client message"`
	ID      string   `xml:"id,attr,omitempty"`
	From    string   `xml:"from,attr,omitempty"`
	To      string   `xml:"to,attr,omitempty"`
	Type    string   `xml:"type,attr,omitempty"`

	Bodies  []body     `xml:"body"`
	Error   *stanzaErr `xml:"error"`
	Delay   *delay     `xml:"urn:xmpp:delay delay"`
	Origin  *named     `xml:"urn:xmpp:sid:0 origin-id"`
	Stanza  []stanzaID `xml:"urn:xmpp:sid:0 stanza-id"`
	Reply   *reply     `xml:"urn:xmpp:reply:0 reply"`
	Replace *named     `xml:"urn:xmpp:message-correct:0 replace"`
	Retract *named     `xml:"urn:xmpp:message-retract:1 retract"`
	React   *reactions `xml:"urn:xmpp:reactions:0 reactions"`
	Falls   []fallback `xml:"urn:xmpp:fallback:0 fallback"`
	OOB     []oob      `xml:"jabber:x:oob x"`
	OMEMO   *empty     `xml:"urn:xmpp:omemo:2 encrypted"`
	OMEMO0  *empty     `xml:"eu.siacs.conversations.axolotl encrypted"`
	Request *empty     `xml:"urn:xmpp:receipts request"`
	Receipt *named     `xml:"urn:xmpp:receipts received"`

	Active    *empty `xml:"http://jabber.org/protocol/chatstates active"`
	Composing *empty `xml:"http://jabber.org/protocol/chatstates composing"`
	Paused    *empty `xml:"http://jabber.org/protocol/chatstates paused"`
	NoStore   *empty `xml:"urn:xmpp:hints no-store"`
	Store     *empty `xml:"urn:xmpp:hints store"`

	Result *archived `xml:"urn:xmpp:mam:2 result"`
}

type empty struct{}

type body struct {
	Text string `xml:",chardata"`
}

type named struct {
	ID string `xml:"id,attr,omitempty"`
}

type stanzaID struct {
	ID string `xml:"id,attr"`
	By string `xml:"by,attr"`
}

type reply struct {
	To string `xml:"to,attr,omitempty"`
	ID string `xml:"id,attr"`
}

type reactions struct {
	ID    string   `xml:"id,attr"`
	Emoji []string `xml:"reaction"`
}

type fallback struct {
	For    string `xml:"for,attr,omitempty"`
	Bodies []span `xml:"body"`
}

// span is a part of a body in Unicode code points; without attributes it is all.
type span struct {
	Start *int `xml:"start,attr"`
	End   *int `xml:"end,attr"`
}

type oob struct {
	URL  string `xml:"url"`
	Desc string `xml:"desc,omitempty"`
}

type delay struct {
	Stamp time.Time `xml:"stamp,attr"`
}

// archived is a message that an archive gives back.
type archived struct {
	Query     string `xml:"queryid,attr"`
	ID        string `xml:"id,attr"`
	Forwarded struct {
		Delay   *delay   `xml:"urn:xmpp:delay delay"`
		Message *message `xml:"jabber:client message"`
	} `xml:"urn:xmpp:forward:0 forwarded"`
}

// stanzaErr is why a stanza was not taken.
type stanzaErr struct {
	Type      string      `xml:"type,attr"`
	Text      string      `xml:"urn:ietf:params:xml:ns:xmpp-stanzas text"`
	Condition []condition `xml:",any"`
}

type condition struct {
	XMLName xml.Name
}

// is reports whether the condition of an error is one of these.
func (e *stanzaErr) is(names ...string) bool {
	for _, c := range e.Condition {
		for _, name := range names {
			if c.XMLName.Local == name && c.XMLName.Space == nsStanzas {
				return true
			}
		}
	}
	return false
}

// words says an error for people.
func (e *stanzaErr) words() string {
	if e.Text != "" {
		return line(e.Text, 300)
	}
	for _, c := range e.Condition {
		if c.XMLName.Space == nsStanzas {
			return line(c.XMLName.Local, 100)
		}
	}
	return "an error without a reason"
}

// presence is who is there.
type presence struct {
	XMLName xml.Name   `xml:"jabber:client presence"`
	ID      string     `xml:"id,attr,omitempty"`
	From    string     `xml:"from,attr,omitempty"`
	To      string     `xml:"to,attr,omitempty"`
	Type    string     `xml:"type,attr,omitempty"`
	Join    *join      `xml:"http://jabber.org/protocol/muc x"`
	Room    *occupant  `xml:"http://jabber.org/protocol/muc#user x"`
	Error   *stanzaErr `xml:"error"`
}

type join struct {
	History struct {
		Max   *int   `xml:"maxstanzas,attr"`
		Since string `xml:"since,attr,omitempty"`
	} `xml:"history"`
}

type occupant struct {
	Item struct {
		JID    string `xml:"jid,attr"`
		Reason string `xml:"reason"`
	} `xml:"item"`
	Status []struct {
		Code string `xml:"code,attr"`
	} `xml:"status"`
}

func (o *occupant) has(code string) bool {
	if o == nil {
		return false
	}
	for _, s := range o.Status {
		if s.Code == code {
			return true
		}
	}
	return false
}

// iq is a request or its answer.
type iq struct {
	XMLName xml.Name `xml:"jabber:client iq"`
	ID      string   `xml:"id,attr"`
	From    string   `xml:"from,attr,omitempty"`
	To      string   `xml:"to,attr,omitempty"`
	Type    string   `xml:"type,attr"`

	Error *stanzaErr `xml:"error"`
	Ping  *empty     `xml:"urn:xmpp:ping ping"`
	Info  *info      `xml:"http://jabber.org/protocol/disco#info query"`
	Items *items     `xml:"http://jabber.org/protocol/disco#items query"`
	Query *query     `xml:"urn:xmpp:mam:2 query"`
	Owner *ownerForm `xml:"http://jabber.org/protocol/muc#owner query"`
	Fin   *fin       `xml:"urn:xmpp:mam:2 fin"`
	Ask   *slotAsked `xml:"urn:xmpp:http:upload:0 request"`
	Slot  *slot      `xml:"urn:xmpp:http:upload:0 slot"`
}

// ownerForm is what the owner of a new room answers when asked how it is to be.
type ownerForm struct {
	Form struct {
		Type string `xml:"type,attr"`
	} `xml:"jabber:x:data x"`
}

type info struct {
	Node       string `xml:"node,attr,omitempty"`
	Identities []struct {
		Category string `xml:"category,attr"`
		Type     string `xml:"type,attr"`
		Name     string `xml:"name,attr,omitempty"`
	} `xml:"identity"`
	Features []feature `xml:"feature"`
	Forms    []form    `xml:"jabber:x:data x"`
}

type feature struct {
	Var string `xml:"var,attr"`
}

func (i *info) has(name string) bool {
	for _, f := range i.Features {
		if f.Var == name {
			return true
		}
	}
	return false
}

type items struct {
	Items []struct {
		JID string `xml:"jid,attr"`
	} `xml:"item"`
}

type form struct {
	Type   string  `xml:"type,attr"`
	Fields []field `xml:"field"`
}

type field struct {
	Var    string   `xml:"var,attr"`
	Type   string   `xml:"type,attr,omitempty"`
	Values []string `xml:"value"`
}

// query asks an archive.
type query struct {
	ID   string `xml:"queryid,attr"`
	Form *form  `xml:"jabber:x:data x"`
	Set  *page  `xml:"http://jabber.org/protocol/rsm set"`
}

// page is a part of a long answer.
type page struct {
	Max    int     `xml:"max,omitempty"`
	After  string  `xml:"after,omitempty"`
	Before *string `xml:"before"`
	Last   string  `xml:"last,omitempty"`
}

type fin struct {
	Complete bool `xml:"complete,attr"`
	Set      page `xml:"http://jabber.org/protocol/rsm set"`
}

type slotAsked struct {
	Name string `xml:"filename,attr"`
	Size int64  `xml:"size,attr"`
	MIME string `xml:"content-type,attr,omitempty"`
}

type slot struct {
	Put struct {
		URL     string `xml:"url,attr"`
		Headers []struct {
			Name  string `xml:"name,attr"`
			Value string `xml:",chardata"`
		} `xml:"header"`
	} `xml:"put"`
	Get struct {
		URL string `xml:"url,attr"`
	} `xml:"get"`
}

// acknowledged is how many stanzas the other side has.
type acknowledged struct {
	H uint32 `xml:"h,attr"`
}
