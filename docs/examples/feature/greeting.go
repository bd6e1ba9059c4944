// Package greeting is the example of docs/add-a-feature.md: a feature with a
// method, a slash command and a setting. It greets; no program contains it.
package greeting

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Method greets somebody. In the product its name, its scope and the types of its
// parameters and result stand in package gateway/protocol.
const Method = "hearth.greeting.get"

// Params and Result are the method's.
type (
	Params struct {
		Name string `json:"name"`
	}
	Result struct {
		Text string `json:"text"`
	}
)

const maxName = 80

// Settings are those in use, asked each time anew: a change of the file counts
// from the next greeting on. *config.File is one.
type Settings interface {
	Snapshot() *config.Snapshot
}

// Options are the parts that the feature needs; all of them.
type Options struct {
	Settings Settings
}

type feature struct{ Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := feature{o}
	return host.Feature{
		Methods: []method.Method{method.Plain(Method, f.get)},
		Commands: []command.Command{{
			Spec: command.Spec{Name: "greet", Args: "[name]", Description: "Greet somebody", Category: "tools"},
			Do:   f.cmdGreet,
		}},
	}
}

func (f feature) get(_ context.Context, p Params) (Result, error) {
	if n := utf8.RuneCountInString(p.Name); n > maxName {
		return Result{}, protocol.InvalidParams(Method, "the name has %d characters, at most %d can be greeted", n, maxName)
	}
	return Result{Text: f.greet(p.Name)}, nil
}

// cmdGreet: a mistake of the person is a reply too, not an error.
func (f feature) cmdGreet(_ context.Context, _, args string) (string, error) {
	if utf8.RuneCountInString(args) > maxName {
		return "That is a long name. Greet whom?", nil
	}
	return f.greet(args), nil
}

func (f feature) greet(name string) string {
	if name = strings.TrimSpace(name); name == "" {
		name = "everybody"
	}
	return fmt.Sprintf("%s, %s!", Section.Of(f.Settings.Snapshot().Config).Word, name)
}
