package wire

import (
	"bytes"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Sides writes a conversation for services whose two sides speak in turn:
// neighbours of one role become one message, which puts all results of a message's
// calls together, as those services want them. What messages consist of is written
// already, see Elements.
type Sides struct {
	Parts string // what a message's list of parts is called

	buf  bytes.Buffer
	role string // of who spoke last
	last int    // where in buf stands what was added last
}

// Add appends parts of one side; none are left out. Roles and the name of the list
// are a dialect's own words and need no escapes.
func (s *Sides) Add(role string, parts []byte) {
	switch {
	case len(parts) == 0:
		return
	case role == s.role:
		s.buf.WriteByte(',')
	default:
		if s.role != "" {
			s.buf.WriteString("]},")
		}
		s.buf.WriteString(`{"role":"` + role + `","` + s.Parts + `":[`)
		s.role = role
	}
	s.last = s.buf.Len()
	s.buf.Write(parts)
}

// Last is the role of who spoke last, "" when nobody did.
func (s *Sides) Last() string { return s.role }

// SetLast replaces what was added last.
func (s *Sides) SetLast(parts []byte) {
	s.buf.Truncate(s.last)
	s.buf.Write(parts)
}

// Messages are the messages as a list of requests holds them. Nothing is added
// afterwards.
func (s *Sides) Messages() [][]byte {
	if s.role == "" {
		return nil
	}
	s.buf.WriteString("]}")
	return [][]byte{s.buf.Bytes()}
}

// RoleOf is who speaks a message: the model, under the name that the dialect has
// for it, or the other side.
func RoleOf(m model.Message, assistant string) string {
	if m.Role == model.RoleAssistant {
		return assistant
	}
	return "user"
}
