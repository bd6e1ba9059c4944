package config

import (
	"path/filepath"
	"strings"
)

func (d *decoder) toolsExec(n *node, e *ToolsExec) {
	fields := append(d.execApproval(&e.ExecApproval), []field{
		{"host", func(n *node) { d.choice(n, "gateway", "auto") }},
		{"pathPrepend", func(n *node) { d.list(n, func(v *node) { e.PathPrepend = append(e.PathPrepend, d.folder(v)) }) }},
		{"backgroundMs", func(n *node) { e.BackgroundMs = d.integer(n, 10, 120_000) }},
		{"timeoutSec", func(n *node) { e.TimeoutSec = d.integer(n, 1, 86_400) }},
		{"notifyOnExit", func(n *node) { e.NotifyOnExit = d.boolean(n) }},
		{"sandbox", func(n *node) { d.execSandbox(n, &e.Sandbox) }},
	}...)
	d.object(n, append(fields, later("node", "safeBins", "safeBinTrustedDirs", "safeBinProfiles", "strictInlineEval", "mode",
		"cleanupMs", "notifyOnExitEmptySuccess", "approvalRunningNoticeMs", "applyPatch", "reviewer")...)...)
}

func (d *decoder) execSandbox(n *node, s *ExecSandbox) {
	folders := func(to *[]string) func(*node) {
		return func(n *node) { d.list(n, func(v *node) { *to = append(*to, d.folder(v)) }) }
	}
	d.object(n,
		field{"backend", func(n *node) { s.Backend = d.choice(n, "auto", "off") }},
		field{"network", func(n *node) { s.Network = d.boolean(n) }},
		field{"read", folders(&s.Read)},
		field{"write", folders(&s.Write)},
	)
}

// folder reads a path that means the same wherever Hearth was started.
func (d *decoder) folder(n *node) string {
	p := strings.TrimSpace(d.filled(n, 4096))
	if p != "" && p != "~" && !strings.HasPrefix(p, "~/") && !filepath.IsAbs(p) {
		d.issue(n.start, "write the whole path, or one that begins with ~/")
	}
	return p
}
