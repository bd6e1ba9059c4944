package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// exact keeps a request from leaving when its tools are not those that were
// meant (code mode shows a model two tools and hides all others). It looks at
// the bytes: whatever assembled them cannot be wrong about them.
func exact(body []byte, want []string) error {
	if want == nil {
		return nil
	}
	got, err := ToolNames(body)
	if err == nil {
		slices.Sort(got)
		if slices.Equal(got, slices.Sorted(slices.Values(want))) {
			return nil
		}
		err = fmt.Errorf("it holds %s", shown(got))
	}
	return &model.Error{
		Class: model.ClassInvalid, Err: err,
		Detail: fmt.Sprintf("the request was not sent: code mode allows the tools %s in it and no others, but %v. Switch tools.codeMode off "+
			"to go on without it", strings.Join(want, " and "), err),
	}
}

func shown(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	const most = 8
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}

// offered is a tool in any dialect.
type offered struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Function *struct {
		Name string `json:"name"`
	} `json:"function"`
	ToolSpec *struct {
		Name string `json:"name"`
	} `json:"toolSpec"`
	Declarations []struct {
		Name string `json:"name"`
	} `json:"functionDeclarations"`
}

// ToolNames are the names of the tools in a request of any dialect. What it does
// not understand counts as a tool of its own.
func ToolNames(body []byte) ([]string, error) {
	var all []json.RawMessage
	err := eachField(body, func(name string, value json.RawMessage) (err error) {
		var config struct {
			Tools []json.RawMessage `json:"tools"`
		}
		switch strings.ToLower(name) {
		case "tools", "functions":
			err = json.Unmarshal(value, &config.Tools)
		case "toolconfig":
			err = json.Unmarshal(value, &config)
		}
		all = append(all, config.Tools...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("its tools cannot be read: %w", err)
	}
	names := []string{}
	for _, raw := range all {
		var t offered
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, fmt.Errorf("its tools cannot be read: %w", err)
		}
		switch {
		case len(t.Declarations) > 0:
			for _, d := range t.Declarations {
				names = append(names, d.Name)
			}
		case t.Function != nil:
			names = append(names, t.Function.Name)
		case t.ToolSpec != nil:
			names = append(names, t.ToolSpec.Name)
		case t.Name != "":
			names = append(names, t.Name)
		default:
			names = append(names, strings.TrimSpace("something unnamed "+t.Type))
		}
	}
	return names, nil
}
