package config

import (
	"errors"
	"slices"
)

// Sections that stand in for those of the product: this package knows none of them.

type standService struct {
	BaseURL string
	APIKey  Secret
	Models  []standModel
}

type standModel struct {
	ID        string
	Window    int
	Reasoning bool
	Input     []string
}

type standModels struct{ Services map[string]standService }

var standIns = struct {
	models *Settings[standModels]
	runs   *Settings[standRuns]
	tools  *Settings[standTools]
	exec   *Settings[standExec]
	chats  *Settings[standChats]
	door   *Settings[standDoor]
	others *Settings[struct{}]
}{
	models: &Settings[standModels]{Path: "models", Fields: func(m *standModels) []Field {
		named := func(id string) error {
			if !ProviderName(id) {
				return errors.New("no name")
			}
			return nil
		}
		return []Field{Map[standService]{Key: "providers", To: &m.Services, Is: named, One: func(_ string, s *standService) Field {
			return Object{Fields: []Field{
				Text{Key: "baseUrl", To: &s.BaseURL, Is: WebAddress}, Hidden{Key: "apiKey", To: &s.APIKey},
				Choice{Key: "api", Among: []string{"anthropic-messages"}}, Later("headers"),
				List[standModel]{Key: "models", To: &s.Models, One: func(m *standModel) Field {
					return Object{Fields: []Field{
						Text{Key: "id", To: &m.ID}, Number{Key: "contextWindow", To: &m.Window, Min: 1, Max: 1 << 20},
						Switch{Key: "reasoning", To: &m.Reasoning}, Texts{Key: "input", To: &m.Input}, Later("name", "maxTokens"),
					}}
				}},
			}}
		}}}
	}},
	runs: &Settings[standRuns]{Path: "agents.defaults", Default: standRuns{TimeoutSeconds: 600}, Fields: func(r *standRuns) []Field {
		return []Field{
			Number{Key: "timeoutSeconds", To: &r.TimeoutSeconds, Min: 1, Max: 86_400}, r.Model.Field("model", "", Hint{}),
			Text{Key: "workspace", To: &r.Workspace},
		}
	}},
	tools: &Settings[standTools]{Path: "tools", Fields: func(r *standTools) []Field { return []Field{Texts{Key: "deny", To: &r.Deny}} }},
	chats: &Settings[standChats]{Path: "session", Default: standChats{MainKey: "main"}, Fields: func(c *standChats) []Field {
		return []Field{Text{Key: "mainKey", To: &c.MainKey, Max: 64}}
	}},
	door:   &Settings[standDoor]{Path: "gateway", Default: standDoor{Bind: "loopback", Mode: "token"}, Fields: (*standDoor).fields},
	others: &Settings[struct{}]{Name: "others", Fields: func(*struct{}) []Field { return []Field{Later("plugins", "web", "env")} }},
	exec: &Settings[standExec]{Path: "tools.exec", Default: standExec{Ask: "on-miss"}, Fields: func(e *standExec) []Field {
		return []Field{Choice{Key: "ask", To: &e.Ask, Among: []string{"on-miss", "off"}}}
	}},
}

type (
	standRuns struct {
		TimeoutSeconds int
		Model          ModelChoice
		Workspace      string
	}
	standTools struct{ Deny []string }
	standExec  struct{ Ask string }
	standChats struct{ MainKey string }
	standDoor  struct {
		Port       int
		Bind, Mode string
		Token      Secret
	}
)

func (d *standDoor) fields() []Field {
	mode := func(v Value) string {
		if word, _ := v.Word(); slices.Contains([]string{"none", "auto"}, word) {
			v.Warn("%s is not used", word)
			return ""
		}
		return v.Choice("token")
	}
	filled := func(s string) error {
		switch {
		case s == "":
			return errors.New("an empty token would let everybody in")
		case len(s) < 16:
			return Notice("it can be guessed")
		}
		return nil
	}
	return []Field{
		Number{Key: "port", To: &d.Port, Max: 65535}, Choice{Key: "bind", To: &d.Bind, Among: []string{"loopback", "lan"}},
		Object{Key: "auth", Fields: []Field{
			Choice{Key: "mode", To: &d.Mode, Among: []string{"token"}, Read: mode}, Hidden{Key: "token", To: &d.Token, Check: filled, Stays: true},
		}},
	}
}

func standSections() Sections {
	return Sections{standIns.models, standIns.runs, standIns.tools, standIns.exec, standIns.chats, standIns.door, standIns.others}
}

// door is what the stand-in of the gateway's own keys says.
func door(c Config) standDoor { return standIns.door.Of(c) }

// standing are the defaults with these sections.
func standing() Config {
	return Config{Values{standSections().bind()}}
}
