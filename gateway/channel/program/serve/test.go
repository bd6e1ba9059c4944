package serve

import (
	"github.com/sourcegraph/jsonrpc2"

	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/program/wire"
)

// play answers who tries the program.
func (s *served) play(r *jsonrpc2.Request) (any, error) {
	switch r.Method {
	case wire.TestScript:
		return with(r, func(p wire.TestFaults) (any, error) {
			for _, f := range p.Faults {
				s.test.Script(f.Loopback())
			}
			return nil, nil
		})
	case wire.TestReceive:
		return with(r, func(p wire.TestArrived) (any, error) {
			in := p.Channel("", "")
			if len(p.Files) == 0 {
				s.test.Receive(in)
			}
			for _, f := range p.Files {
				s.test.ReceiveFile(in, loopback.File{Name: f.Name, MIME: f.MIME, Content: f.Blob})
			}
			return nil, nil
		})
	case wire.TestTaken:
		return with(r, func(p wire.MessageParams) (any, error) {
			return wire.TestTakenResult{Taken: s.test.Taken(p.MessageID)}, nil
		})
	case wire.TestMessages:
		seen := wire.TestSeen{Messages: []wire.TestMessage{}}
		for _, m := range s.test.Messages() {
			seen.Messages = append(seen.Messages, wire.SeenOf(m))
		}
		return seen, nil
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "this program has no " + r.Method}
}
