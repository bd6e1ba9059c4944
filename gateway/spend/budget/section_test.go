package budget_test

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
)

func read(text string) *config.Snapshot {
	return config.Read(text, config.Options{Sections: config.Sections{budget.Section}})
}

func TestAllowanceOfTheSettings(t *testing.T) {
	s := read(`{ hearth: { allowance: { daily: 2.5, monthly: 0, currency: "EUR", cheapModel: "ollama/qwen3:8b" } } }`)
	want := budget.Settings{Daily: 2.5, Currency: "EUR", CheapModel: "ollama/qwen3:8b"}
	if got := budget.Section.Of(s.Config); got != want || len(s.Issues)+len(s.Warnings) > 0 {
		t.Errorf("%+v %v %v", got, s.Issues, s.Warnings)
	}
	for _, text := range []string{
		`{hearth:{allowance:{daily:-1}}}`, `{hearth:{allowance:{daily:"2"}}}`, `{hearth:{allowance:{cheapModel:"x"}}}`,
	} {
		if s := read(text); len(s.Issues) == 0 {
			t.Errorf("%s is taken", text)
		}
	}
}
