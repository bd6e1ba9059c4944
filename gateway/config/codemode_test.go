package config

import (
	"strings"
	"testing"
)

func TestCodeMode_OneAgentMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{ agents: { list: [{ id: "a", tools: { codeMode: 3 } }] } }`:              "true, false",
		`{ agents: { list: [{ id: "a", tools: { codeMode: { enabled: 1 } } }] } }`: "true",
	} {
		_, issues, _ := channelsOf(t, text)
		if len(issues) == 0 || !strings.Contains(issues[0].String(), want) {
			t.Errorf("%s: %v", text, issues)
		}
	}
}

func TestCodeMode_OneAgent(t *testing.T) {
	c, issues, _ := channelsOf(t,
		`{ agents: { list: [{ id: "a", tools: { codeMode: true } }, { id: "b", tools: { codeMode: { enabled: false } } }, { id: "c" }] } }`)
	if len(issues) > 0 {
		t.Fatal(issues)
	}
	l := c.Agents.List
	if l[0].CodeMode == nil || !*l[0].CodeMode || l[1].CodeMode == nil || *l[1].CodeMode || l[2].CodeMode != nil {
		t.Errorf("%+v", l)
	}
}
