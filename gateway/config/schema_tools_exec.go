package config

func (d *decoder) toolsExec(n *node, e *ToolsExec) {
	fields := d.execApproval(&e.ExecApproval)
	d.object(n, append(fields, later("host", "node", "pathPrepend", "safeBins", "safeBinTrustedDirs", "safeBinProfiles", "strictInlineEval", "mode",
		"backgroundMs", "timeoutSec", "cleanupMs", "notifyOnExit", "notifyOnExitEmptySuccess", "approvalRunningNoticeMs", "applyPatch", "reviewer", "sandbox")...)...)
}
