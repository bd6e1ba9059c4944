package tool

import "encoding/json"

// MaxDetailsBytes is the most that is kept of a result for surfaces.
const MaxDetailsBytes = 64 << 10

// bound leaves the largest parts of details out until the rest may be kept, and
// says so in them: an exit code stays when a difference does not.
func bound(raw json.RawMessage) json.RawMessage {
	if len(raw) <= MaxDetailsBytes {
		return raw
	}
	parts := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &parts) != nil {
		parts = map[string]json.RawMessage{}
	}
	parts["detailsTruncated"] = json.RawMessage("true")
	for size := len(raw); size > MaxDetailsBytes-64 && len(parts) > 1; {
		largest := ""
		for name, v := range parts {
			if n := len(name) + len(v); name != "detailsTruncated" && (largest == "" || n > len(largest)+len(parts[largest])) {
				largest = name
			}
		}
		size -= len(largest) + len(parts[largest])
		delete(parts, largest)
	}
	out, err := json.Marshal(parts)
	if err != nil || len(out) > MaxDetailsBytes {
		return json.RawMessage(`{"detailsTruncated":true}`)
	}
	return out
}
