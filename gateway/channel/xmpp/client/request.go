package client

import (
	"context"
	"encoding/xml"
)

// saidError is an error that the other side answered with.
type saidError struct{ *stanzaErr }

func (e *saidError) Error() string { return e.words() }

// ask sends a request and waits for its answer.
func (l *link) ask(ctx context.Context, q *iq) (*iq, error) {
	q.ID = newID()
	a, key := &asked{done: make(chan struct{})}, q.ID+" "+q.To
	l.mu.Lock()
	l.asked[key] = a
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.asked, key)
		l.mu.Unlock()
	}()
	if err := l.write(q); err != nil {
		return nil, err
	}
	if err := l.await(ctx, a.done); err != nil {
		return nil, err
	}
	got := a.got
	if got.Type == "error" {
		e := got.Error
		if e == nil {
			e = &stanzaErr{}
		}
		return got, &saidError{e}
	}
	return got, nil
}

// request answers what somebody asks, and takes the answers to our own requests.
func (l *link) request(q *iq) error {
	switch q.Type {
	case "result", "error":
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, key := range l.answers(q) {
			if a, ok := l.asked[key]; ok {
				delete(l.asked, key)
				a.got = q
				close(a.done)
				return nil
			}
		}
		return nil
	case "get", "set":
	default:
		return nil
	}
	out := iq{ID: q.ID, To: q.From, Type: "result"}
	switch {
	case q.Type == "get" && q.Ping != nil:
	case q.Type == "get" && q.Info != nil && q.Info.Node == "":
		out.Info = &info{}
		for _, name := range []string{nsInfo, nsPing, nsCorrect, nsReply, nsRetract, nsReact, nsOOB, nsReceipts, nsChat} {
			out.Info.Features = append(out.Info.Features, feature{name})
		}
	default:
		return l.write(struct {
			XMLName xml.Name `xml:"jabber:client iq"`
			ID      string   `xml:"id,attr"`
			To      string   `xml:"to,attr,omitempty"`
			Type    string   `xml:"type,attr"`
			Inner   string   `xml:",innerxml"`
		}{ID: q.ID, To: q.From, Type: "error", Inner: `<error type='cancel'><service-unavailable xmlns='` + nsStanzas + `'/></error>`})
	}
	return l.write(out)
}

// answers are the requests that an answer can be for: an answer of our own server
// may have no sender, or our address as one.
func (l *link) answers(q *iq) []string {
	keys := []string{q.ID + " " + q.From}
	if q.From == l.c.address || q.From == l.self {
		keys = append(keys, q.ID+" ")
	}
	if q.From == "" {
		keys = append(keys, q.ID+" "+l.c.domain, q.ID+" "+l.c.address)
	}
	return keys
}
