package wire

import (
	"bytes"
	"slices"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Stable remembers how was written what is the same in request after request, tools
// and system prompts, so that each is written once per change. The zero value is
// ready, and a nil one remembers nothing. Its methods may be called at the same
// time.
type Stable struct {
	mu    sync.Mutex
	tools map[[2]string]writtenTool // by form and name
	texts []writtenText             // the one that was wanted last comes last
}

type writtenTool struct {
	spec model.ToolSpec
	raw  []byte
}

type writtenText struct {
	form, text string
	raw        []byte
}

// maxTools and maxTexts bound what is remembered: tools of other programs come and
// go, and each agent has a prompt of its own.
const (
	maxTools = 1000
	maxTexts = 8
)

// Tools returns the tools as shape makes them. form names the dialect and all that
// the result depends on beside the tool.
func (s *Stable) Tools(form string, specs []model.ToolSpec, shape func(model.ToolSpec) any) (out [][]byte, err error) {
	for _, spec := range specs {
		raw, ok := s.known(form, spec)
		if !ok {
			if raw, err = JSON(shape(spec)); err != nil {
				return nil, err
			}
			s.remember(form, spec, raw)
		}
		out = append(out, raw)
	}
	return out, nil
}

func (s *Stable) known(form string, spec model.ToolSpec) ([]byte, bool) {
	if s == nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w, ok := s.tools[[2]string{form, spec.Name}]
	return w.raw, ok && w.spec.Description == spec.Description && bytes.Equal(w.spec.Schema, spec.Schema)
}

func (s *Stable) remember(form string, spec model.ToolSpec, raw []byte) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tools == nil || len(s.tools) >= maxTools {
		s.tools = map[[2]string]writtenTool{}
	}
	s.tools[[2]string{form, spec.Name}] = writtenTool{spec, raw}
}

// Text returns a system prompt as shape makes it; form is that of Tools.
func (s *Stable) Text(form, text string, shape func(text string) any) ([]byte, error) {
	if s == nil {
		return JSON(shape(text))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.texts, func(w writtenText) bool { return w.form == form && w.text == text })
	var w writtenText
	if i >= 0 {
		w = s.texts[i]
		s.texts = slices.Delete(s.texts, i, i+1)
	} else {
		raw, err := JSON(shape(text))
		if err != nil {
			return nil, err
		}
		if w = (writtenText{form, text, raw}); len(s.texts) == maxTexts {
			s.texts = slices.Delete(s.texts, 0, 1)
		}
	}
	s.texts = append(s.texts, w)
	return w.raw, nil
}
