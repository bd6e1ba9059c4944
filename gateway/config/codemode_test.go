package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCodeMode_Settings(t *testing.T) {
	with := func(change func(*CodeMode)) CodeMode {
		c := defaultCodeMode()
		change(&c)
		return c
	}
	on := with(func(c *CodeMode) { c.Enabled = true })
	for text, want := range map[string]CodeMode{
		`{}`:                             defaultCodeMode(),
		`{ tools: { codeMode: false } }`: defaultCodeMode(),
		`{ tools: { codeMode: true } }`:  on,
		`{ tools: { codeMode: {} } }`:    defaultCodeMode(),
		`{ tools: { codeMode: { timeoutMs: 500, memoryLimitBytes: 2097152 } } }`: with(func(c *CodeMode) {
			c.TimeoutMs, c.MemoryLimitBytes = 500, 2<<20
		}),
		`{ tools: { codeMode: { enabled: true, runtime: "quickjs-wasi", mode: "only" } } }`: on,
		`{ tools: { codeMode: { languages: ["typescript", "typescript"] } } }`:              with(func(c *CodeMode) { c.Languages = []string{"typescript"} }),
		// Bounds.
		`{ tools: { codeMode: { enabled: true, timeoutMs: 1, memoryLimitBytes: 1, maxOutputBytes: 1, maxSnapshotBytes: 1, maxPendingToolCalls: 0, snapshotTtlSeconds: 0, searchDefaultLimit: 0, maxSearchLimit: 0 } } }`: with(func(c *CodeMode) {
			*c = CodeMode{true, c.Runtime, c.Mode, c.Languages, 100, 1 << 20, 1 << 10, 1 << 10, 1, 1, 1, 1}
		}),
		`{ tools: { codeMode: { enabled: true, timeoutMs: 1e9, memoryLimitBytes: 1e12, maxOutputBytes: 1e12, maxSnapshotBytes: 1e12, maxPendingToolCalls: 1e12, snapshotTtlSeconds: 1e12, searchDefaultLimit: 1e12, maxSearchLimit: 1e12 } } }`: with(func(c *CodeMode) {
			*c = CodeMode{true, c.Runtime, c.Mode, c.Languages, 60_000, 1 << 30, 10 << 20, 256 << 20, 128, 86_400, 50, 50}
		}),
		`{ tools: { codeMode: { maxSearchLimit: 5 } } }`: with(func(c *CodeMode) { c.MaxSearchLimit, c.SearchDefaultLimit = 5, 5 }),
	} {
		c, issues, _ := channelsOf(t, text)
		if len(issues) > 0 {
			t.Errorf("%s: %v", text, issues)
		}
		if diff := cmp.Diff(want, c.Tools.CodeMode); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	}
}

// What is wrong leaves the settings as they were: nothing is half switched on.
func TestCodeMode_SettingsMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{ tools: { codeMode: "on" } }`:                                            "true, false or an object",
		`{ tools: { codeMode: null } }`:                                            "remove the key",
		`{ tools: { codeMode: { enabled: "yes" } } }`:                              "enabled",
		`{ tools: { codeMode: { runtime: "node" } } }`:                             "quickjs-wasi",
		`{ tools: { codeMode: { mode: "both" } } }`:                                "only",
		`{ tools: { codeMode: { languages: [] } } }`:                               "at least one",
		`{ tools: { codeMode: { languages: ["python"] } } }`:                       "javascript, typescript",
		`{ tools: { codeMode: { timeoutMs: "10s" } } }`:                            "whole number",
		`{ tools: { codeMode: { timeoutMs: 1.5 } } }`:                              "whole number",
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
	c, issues, _ := channelsOf(t, `{ agents: { list: [{ id: "a", tools: { codeMode: true } }, { id: "b", tools: { codeMode: { enabled: false } } }, { id: "c" }] } }`)
	if len(issues) > 0 {
		t.Fatal(issues)
	}
	l := c.Agents.List
	if l[0].CodeMode == nil || !*l[0].CodeMode || l[1].CodeMode == nil || *l[1].CodeMode || l[2].CodeMode != nil {
		t.Errorf("%+v", l)
	}
}
