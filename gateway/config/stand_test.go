package config

import "errors"

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
)

func standSections() Sections {
	return Sections{standIns.models, standIns.runs, standIns.tools, standIns.exec, standIns.chats}
}

// standing are the defaults with these sections.
func standing() Config {
	c := Default()
	c.Sections = Values{standSections().bind()}
	return c
}
