package mcp

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
)

// Tools that can only be used as tasks, a kind of call that Hearth does not make.
// The SDK does not show what a tool says about that, so it is read from the
// messages of programs, and from the refusal of a service.

// tasks knows them by the server's names; it is safe for concurrent use.
type tasks struct {
	mu   sync.Mutex
	only map[string]bool
}

func (t *tasks) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.only == nil {
		t.only = map[string]bool{}
	}
	if len(t.only) < maxTools*maxPages {
		t.only[name] = true
	}
}

func (s *server) needsTask(name string) bool {
	s.tasks.mu.Lock()
	defer s.tasks.mu.Unlock()
	return s.tasks.only[name]
}

// look finds those of a list of tools.
func (t *tasks) look(message []byte) {
	if !bytes.Contains(message, []byte(`"taskSupport"`)) {
		return
	}
	var list struct {
		Result struct {
			Tools []struct {
				Name      string `json:"name"`
				Execution struct {
					TaskSupport string `json:"taskSupport"`
				} `json:"execution"`
			} `json:"tools"`
		} `json:"result"`
	}
	if json.Unmarshal(message, &list) != nil {
		return
	}
	for _, tool := range list.Result.Tools {
		if tool.Execution.TaskSupport == "required" {
			t.add(tool.Name)
		}
	}
}

// refusedWithoutTask reports whether a call failed because it was not a task.
func refusedWithoutTask(err error) bool {
	return err != nil && strings.Contains(err.Error(), "requires task augmentation")
}
