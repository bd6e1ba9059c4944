package zuliptest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// term narrows what is given.
type term struct {
	Operator string          `json:"operator"`
	Operand  json.RawMessage `json:"operand"`
	Negated  bool            `json:"negated"`

	id     int64
	people []int64
	text   string
}

// narrowOf reads a list of terms; one that the server does not know is refused.
func narrowOf(raw string) (out []term, _ *no) {
	if raw == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(raw), &out); err != nil {
		return nil, bad("narrow is not valid JSON")
	}
	for i := range out {
		var err error
		switch t := &out[i]; t.Operator {
		case "stream", "channel":
			err = json.Unmarshal(t.Operand, &t.id)
		case "dm", "pm-with":
			err = json.Unmarshal(t.Operand, &t.people)
			slices.Sort(t.people)
		case "topic", "search":
			err = json.Unmarshal(t.Operand, &t.text)
		default:
			return nil, &no{http.StatusBadRequest, "BAD_NARROW", "Invalid narrow operator: unknown " + t.Operator + " operator"}
		}
		if err != nil {
			return nil, &no{http.StatusBadRequest, "BAD_NARROW", "Invalid narrow operator: unknown " + string(out[i].Operand) + " operand"}
		}
	}
	return out, nil
}

// holds reports whether a message is in the narrow of the bot.
func (t term) holds(m *Message, bot int64) bool {
	switch t.Operator {
	case "stream", "channel":
		return m.At.Stream != nil && m.At.Stream.ID == t.id
	case "dm", "pm-with":
		var with []int64
		for _, u := range m.At.People {
			if u.ID == bot {
				continue
			}
			with = append(with, u.ID)
		}
		slices.Sort(with)
		return m.At.Stream == nil && slices.Equal(with, t.people)
	case "topic":
		return m.At.Stream != nil && strings.EqualFold(m.At.Topic, t.text)
	}
	for word := range strings.FieldsSeq(strings.ToLower(t.text)) {
		if !strings.Contains(strings.ToLower(m.Content), word) {
			return false
		}
	}
	return true
}

// history is what the bot has received, around an anchor.
func (s *Server) history(_ *http.Request, p url.Values) (answer, *no) {
	narrow, err := narrowOf(p.Get("narrow"))
	if err != nil {
		return nil, err
	}
	var seen []*Message
	for _, m := range s.messages {
		if s.sees(m) && !slices.ContainsFunc(narrow, func(t term) bool { return !t.holds(m, s.Bot.ID) }) {
			seen = append(seen, m)
		}
	}
	slices.SortStableFunc(seen, func(a, b *Message) int { return int(a.ID - b.ID) })
	before, errB := strconv.Atoi(p.Get("num_before"))
	after, errA := strconv.Atoi(p.Get("num_after"))
	if errA != nil || errB != nil || before < 0 || after < 0 {
		return nil, bad("Invalid num_before or num_after")
	}
	if before+after > 5000 {
		return nil, bad("Too many messages requested (maximum 5000)")
	}
	at := len(seen)
	if anchor := p.Get("anchor"); anchor != "newest" {
		id, err := strconv.ParseInt(anchor, 10, 64)
		if err != nil {
			return nil, bad("Invalid anchor")
		}
		if at = slices.IndexFunc(seen, func(m *Message) bool { return m.ID >= id }); at < 0 {
			at = len(seen)
		}
		if at < len(seen) && seen[at].ID == id { // the anchor is there beside those behind it
			after++
		}
	}
	out := []answer{}
	for _, m := range seen[max(at-before, 0):min(at+after, len(seen))] {
		said := shape(m)
		said["flags"] = s.flags(m)
		out = append(out, said)
	}
	return answer{"messages": out, "found_newest": at+after >= len(seen), "found_oldest": at-before <= 0, "history_limited": false}, nil
}
