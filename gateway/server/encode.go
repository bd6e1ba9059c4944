package server

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// encodeJSON is json.Marshal without the escapes for HTML, which our frames
// never become part of.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// eventHead is an event frame as far as it is the same for all clients: what
// is missing is the closing brace and, before it, the sequence number.
func eventHead(event string, payload any) ([]byte, error) {
	body, err := encodeJSON(payload)
	if err != nil {
		return nil, fmt.Errorf("encode the payload of event %s: %w", event, err)
	}
	head := make([]byte, 0, len(body)+len(event)+48)
	head = append(head, `{"type":"event","event":"`...)
	head = append(head, event...) // one of our own names: nothing to escape
	head = append(head, `","payload":`...)
	return append(head, body...), nil
}

// responseFrame is a whole answer.
func responseFrame(id string, payload any, e *protocol.Error) ([]byte, error) {
	r := protocol.Response{Type: protocol.TypeResponse, ID: id, OK: e == nil, Error: e}
	if e == nil && payload != nil {
		body, err := encodeJSON(payload)
		if err != nil {
			return nil, fmt.Errorf("encode an answer: %w", err)
		}
		r.Payload = body
	}
	return encodeJSON(&r)
}
