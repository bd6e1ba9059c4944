package workbench_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hearth-assistant/hearth/gateway/codemode/workbench"
	"github.com/hearth-assistant/hearth/gateway/config"
)

func read(text string) *config.Snapshot {
	return config.Read(text, config.Options{Sections: config.Sections{workbench.Section}})
}

func TestCodeMode_Settings(t *testing.T) {
	with := func(change func(*workbench.Configured)) workbench.Configured {
		c := workbench.Section.Default
		change(&c)
		return c
	}
	on := with(func(c *workbench.Configured) { c.Enabled = true })
	for text, want := range map[string]workbench.Configured{
		`{}`:                             workbench.Section.Default,
		`{ tools: { codeMode: false } }`: workbench.Section.Default,
		`{ tools: { codeMode: true } }`:  on,
		`{ tools: { codeMode: {} } }`:    workbench.Section.Default,
		`{ tools: { codeMode: { timeoutMs: 500, memoryLimitBytes: 2097152 } } }`: with(func(c *workbench.Configured) {
			c.TimeoutMs, c.MemoryLimitBytes = 500, 2<<20
		}),
		`{ tools: { codeMode: { enabled: true, runtime: "quickjs-wasi", mode: "only" } } }`: on,
		`{ tools: { codeMode: { languages: ["typescript", "typescript"] } } }`: with(func(c *workbench.Configured) {
			c.Languages = []string{"typescript"}
		}),
		// Bounds.
		`{ tools: { codeMode: { enabled: true, timeoutMs: 1, memoryLimitBytes: 1, maxOutputBytes: 1, maxSnapshotBytes: 1, maxPendingToolCalls: 0, snapshotTtlSeconds: 0, searchDefaultLimit: 0, maxSearchLimit: 0 } } }`: with(func(c *workbench.Configured) {
			*c = workbench.Configured{true, c.Runtime, c.Mode, c.Languages, 100, 1 << 20, 1 << 10, 1 << 10, 1, 1, 1, 1}
		}),
		`{ tools: { codeMode: { enabled: true, timeoutMs: 1e9, memoryLimitBytes: 1e12, maxOutputBytes: 1e12, maxSnapshotBytes: 1e12, maxPendingToolCalls: 1e12, snapshotTtlSeconds: 1e12, searchDefaultLimit: 1e12, maxSearchLimit: 1e12 } } }`: with(func(c *workbench.Configured) {
			*c = workbench.Configured{true, c.Runtime, c.Mode, c.Languages, 60_000, 1 << 30, 10 << 20, 256 << 20, 128, 86_400, 50, 50}
		}),
		`{ tools: { codeMode: { maxSearchLimit: 5 } } }`: with(func(c *workbench.Configured) { c.MaxSearchLimit, c.SearchDefaultLimit = 5, 5 }),
	} {
		s := read(text)
		if len(s.Issues) > 0 {
			t.Errorf("%s: %v", text, s.Issues)
		}
		if diff := cmp.Diff(want, workbench.Section.Of(s.Config)); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	}
}

// What is wrong leaves the settings as they were: nothing is half switched on.
func TestCodeMode_SettingsMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{ tools: { codeMode: "on" } }`:                      "true, false or an object",
		`{ tools: { codeMode: null } }`:                      "remove the key",
		`{ tools: { codeMode: { enabled: "yes" } } }`:        "enabled",
		`{ tools: { codeMode: { runtime: "node" } } }`:       "quickjs-wasi",
		`{ tools: { codeMode: { mode: "both" } } }`:          "only",
		`{ tools: { codeMode: { languages: [] } } }`:         "at least one",
		`{ tools: { codeMode: { languages: ["python"] } } }`: "javascript, typescript",
		`{ tools: { codeMode: { timeoutMs: "10s" } } }`:      "whole number",
		`{ tools: { codeMode: { timeoutMs: 1.5 } } }`:        "whole number",
	} {
		s := read(text)
		if len(s.Issues) == 0 || !strings.Contains(s.Issues[0].String(), want) {
			t.Errorf("%s: %v", text, s.Issues)
		}
	}
}
