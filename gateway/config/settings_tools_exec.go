package config

// ToolsExec is about running commands.
type ToolsExec struct {
	ExecApproval
}

func defaultToolsExec() ToolsExec { return ToolsExec{ExecApproval: defaultExecApproval()} }
