package wire

import (
	"bytes"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Tools remembers how tools were written, which are the same in request after
// request, so that each is written once per change. The zero value is ready, and a
// nil one remembers nothing. Its methods may be called at the same time.
type Tools struct {
	mu      sync.Mutex
	written map[[2]string]writtenTool // by form and name
}

type writtenTool struct {
	spec model.ToolSpec
	raw  []byte
}

// maxTools bounds what is remembered: tools of other programs come and go.
const maxTools = 1000

// Write returns the tools as shape makes them. form names the dialect and all that
// the result depends on beside the tool.
func (t *Tools) Write(form string, specs []model.ToolSpec, shape func(model.ToolSpec) any) (out [][]byte, err error) {
	for _, s := range specs {
		raw, ok := t.known(form, s)
		if !ok {
			if raw, err = JSON(shape(s)); err != nil {
				return nil, err
			}
			t.remember(form, s, raw)
		}
		out = append(out, raw)
	}
	return out, nil
}

func (t *Tools) known(form string, s model.ToolSpec) ([]byte, bool) {
	if t == nil {
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	w, ok := t.written[[2]string{form, s.Name}]
	return w.raw, ok && w.spec.Description == s.Description && bytes.Equal(w.spec.Schema, s.Schema)
}

func (t *Tools) remember(form string, s model.ToolSpec, raw []byte) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.written == nil || len(t.written) >= maxTools {
		t.written = map[[2]string]writtenTool{}
	}
	t.written[[2]string{form, s.Name}] = writtenTool{s, raw}
}
