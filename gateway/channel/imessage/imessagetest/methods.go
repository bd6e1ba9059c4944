package imessagetest

import (
	"encoding/json"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

type request struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  map[string]any  `json:"params"`
}

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    string `json:"data,omitempty"`
}

func invalid(words string) *failure { return &failure{-32602, "Invalid params", words} }

// handle answers one line.
func (p *proc) handle(line []byte) {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		p.answer(nil, nil, &failure{-32700, "Parse error", err.Error()})
		return
	}
	if r.Version != "2.0" || r.Method == "" {
		p.answer(r.ID, nil, &failure{-32600, "Invalid Request", "jsonrpc must be 2.0"})
		return
	}
	m := p.mac
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blocked {
		p.answer(r.ID, nil, &failure{-32603, "Internal error", "permissionDenied: authorization denied (code: 23)"})
		return
	}
	switch r.Method {
	case "chats.list":
		chats := []any{}
		if n := len(m.rows); n > 0 {
			chats = append(chats, map[string]any{"id": m.rows[n-1]["chat_id"], "name": "", "identifier": "x", "service": "iMessage"})
		}
		p.answer(r.ID, map[string]any{"chats": chats}, nil)
	case "messages.history":
		p.history(r)
	case "watch.subscribe":
		p.watch(r)
	case "send":
		p.send(r)
	default:
		p.answer(r.ID, nil, &failure{-32601, "Method not found", r.Method})
	}
}

func (p *proc) answer(id json.RawMessage, result any, f *failure) {
	a := map[string]any{"jsonrpc": "2.0", "id": id}
	if f != nil {
		a["error"] = f
	} else {
		a["result"] = result
	}
	if line, err := json.Marshal(a); err == nil {
		p.say(line)
	}
}

func (p *proc) history(r request) {
	chat, ok := r.Params["chat_id"].(float64)
	if !ok {
		p.answer(r.ID, nil, invalid("chat_id is required"))
		return
	}
	out := []any{}
	for _, msg := range slices.Backward(p.mac.rows) { // the newest first
		if fmt.Sprint(msg["chat_id"]) == fmt.Sprint(int(chat)) && len(out) < 1 {
			out = append(out, msg)
		}
	}
	p.answer(r.ID, map[string]any{"messages": out}, nil)
}

func (p *proc) watch(r request) {
	since := len(p.mac.rows)
	if n, ok := r.Params["since_rowid"].(float64); ok {
		since = int(n)
	}
	files, _ := r.Params["attachments"].(bool)
	p.mu.Lock()
	p.watches, p.since, p.files = 1, since, files
	p.mu.Unlock()
	p.answer(r.ID, map[string]any{"subscription": 1}, nil)
	for _, msg := range p.mac.rows {
		p.tell(msg)
	}
}

// send refuses what imsg refuses, and shows people the rest.
func (p *proc) send(r request) {
	text, _ := r.Params["text"].(string)
	path, _ := r.Params["file"].(string)
	to, _ := r.Params["to"].(string)
	chat, group := r.Params["chat_id"].(float64)
	service, _ := r.Params["service"].(string)
	switch {
	case service != "auto" && service != "imessage" && service != "sms":
		p.answer(r.ID, nil, invalid("invalid service"))
		return
	case to != "" && group:
		p.answer(r.ID, nil, invalid("use to or chat_*; not both"))
		return
	case to == "" && !group:
		p.answer(r.ID, nil, invalid("to is required for direct sends"))
		return
	case text == "" && path == "":
		p.answer(r.ID, nil, invalid("text or file is required"))
		return
	case group && chat != 42:
		p.answer(r.ID, nil, invalid(fmt.Sprintf("unknown chat_id %d", int(chat))))
		return
	}
	if group {
		to = fmt.Sprintf("chat_id:%d", int(chat))
	}
	m := p.mac
	var f Fault
	if len(m.faults) > 0 {
		f, m.faults = m.faults[0], m.faults[1:]
	}
	switch {
	case f.EndBefore:
		go p.Stop()
		return
	case f.Code != 0:
		p.answer(r.ID, nil, &failure{f.Code, "Internal error", f.Words})
		return
	}
	s := Sent{ID: fmt.Sprintf("OURS-%d", len(m.sent)+1), To: to, Text: text}
	if path != "" {
		data, err := os.ReadFile(path)
		if err != nil || !filepath.IsAbs(path) {
			p.answer(r.ID, nil, invalid("Attachment not found at "+path))
			return
		}
		kind, _, _ := strings.Cut(mime.TypeByExtension(filepath.Ext(path)), ";")
		s.Files = []File{{Name: filepath.Base(path), MIME: kind, Data: data}}
	}
	m.sent = append(m.sent, s)
	if f.EndAfter {
		go p.Stop()
		return
	}
	if m.old {
		p.answer(r.ID, map[string]any{"ok": true}, nil)
		return
	}
	p.answer(r.ID, map[string]any{"ok": true, "id": len(m.sent), "guid": s.ID}, nil)
}
