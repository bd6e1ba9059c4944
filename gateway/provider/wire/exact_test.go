package wire_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

func TestCodeMode_ToolNamesOfEveryDialect(t *testing.T) {
	for body, want := range map[string][]string{
		`{}`:                                    {},
		`{"tools":[]}`:                          {},
		`{"tools":[{"name":"a"},{"name":"b"}]}`: {"a", "b"},
		`{"tools":[{"type":"function","function":{"name":"a"}}]}`:                 {"a"},
		`{"tools":[{"type":"function","name":"a"},{"type":"web_search"}]}`:        {"a", "something unnamed web_search"},
		`{"tools":[{"functionDeclarations":[{"name":"a"},{"name":"b"}]}]}`:        {"a", "b"},
		`{"tools":[{"googleSearch":{}}]}`:                                         {"something unnamed"},
		`{"toolConfig":{"tools":[{"toolSpec":{"name":"a"}}]}}`:                    {"a"},
		`{"toolConfig":{"tools":[{"cachePoint":{}}]},"functions":[{"name":"f"}]}`: {"something unnamed", "f"},
	} {
		got, err := wire.ToolNames([]byte(body))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", body, got, err)
		}
	}
	for _, body := range []string{``, `[]`, `{`, `{"tools":{"a":1}}`, `{"tools":["exec"]}`, `{"tools":[{"name":"a"}]`, `{"tools":[]} {}`,
		`{"a":"` + "\\" + `"}`, `{"a":1,"tools"}`, `{"a"}`} {
		if got, err := wire.ToolNames([]byte(body)); err == nil {
			t.Errorf("%s: %q", body, got)
		}
	}
}

// A request whose tools are not exactly those that code mode shows does not
// leave, whatever assembled it.
func TestCodeMode_FailsClosedOnTheBytesThatLeave(t *testing.T) {
	for name, c := range map[string]struct {
		tools []string
		sent  bool
	}{
		"exactly":      {[]string{"wait", "exec"}, true},
		"one too many": {[]string{"exec", "read", "wait"}, false},
		"one missing":  {[]string{"exec"}, false},
		"twice":        {[]string{"exec", "exec", "wait"}, false},
		"none":         {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.WriteHeader(http.StatusBadRequest)
			}))
			defer srv.Close()
			s := &wire.Service{BaseURL: srv.URL}
			d := wire.Dialect{
				Ask: func(model.Request) (string, any) {
					var list []map[string]string
					for _, n := range c.tools {
						list = append(list, map[string]string{"name": n})
					}
					return "/", map[string]any{"tools": list}
				},
				Header: wire.Bearer, Decoding: func() wire.Decoder { return nil },
			}
			var err error
			for _, e := range s.Stream(context.WithoutCancel(t.Context()), d, model.Request{Exact: []string{"exec", "wait"}}) {
				err = e
			}
			if asked.Load() > 0 != c.sent {
				t.Errorf("asked %d times, %v", asked.Load(), err)
			}
			if !c.sent && (model.ClassOf(err) != model.ClassInvalid || !strings.Contains(err.Error(), "not sent")) {
				t.Error(err)
			}
		})
	}
}

// A service that takes no tools is not asked again without them: what a person
// switched on is not switched off behind their back.
func TestCodeMode_NoSecondTryWithoutTools(t *testing.T) {
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"registry/model does not support tools"}`))
	}))
	defer srv.Close()
	d := wire.Dialect{
		Ask: func(r model.Request) (string, any) {
			var list []map[string]string
			for _, t := range r.Tools {
				list = append(list, map[string]string{"name": t.Name})
			}
			return "/", map[string]any{"tools": list}
		},
		Header: wire.Bearer, Decoding: func() wire.Decoder { return nil },
	}
	req := model.Request{Tools: []model.ToolSpec{{Name: "exec"}, {Name: "wait"}}, Exact: []string{"exec", "wait"}}
	for range (&wire.Service{BaseURL: srv.URL}).Stream(t.Context(), d, req) {
	}
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
}
