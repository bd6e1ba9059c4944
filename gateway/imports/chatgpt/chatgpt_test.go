package chatgpt

import (
	"encoding/json"
	"testing"
)

// Trees that run in circles, or lack their parts, come to an end.
func FuzzConversation(f *testing.F) {
	f.Add([]byte(`{"conversation_id":"c","current_node":"a","mapping":{"a":{"parent":"b"},"b":{"parent":"a","message":{"author":{"role":"user"},` +
		`"content":{"parts":["x",{"content_type":"image_asset_pointer"}]}}}}}`))
	f.Add([]byte(`{"id":"c","create_time":1e308,"mapping":{"a":{"message":{"create_time":-1,"content":{"text":"t"}}}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var c conversation
		if json.Unmarshal(in, &c) != nil {
			return
		}
		for m, err := range c.branch() {
			if err != nil || m.Role == "" || m.Text() == "" || m.Timestamp < 0 {
				t.Fatalf("%+v, %v", m, err)
			}
		}
	})
}
