package config

import "slices"

// ToolsExec is about running commands.
type ToolsExec struct {
	ExecApproval
	PathPrepend  []string    `json:"pathPrepend,omitempty"` // folders of programs before the system's
	BackgroundMs int         `json:"backgroundMs"`          // until a command goes on in the background
	TimeoutSec   int         `json:"timeoutSec"`
	NotifyOnExit bool        `json:"notifyOnExit"` // a note when a command in the background has ended
	Sandbox      ExecSandbox `json:"sandbox"`
}

// ExecSandbox is what commands may touch.
type ExecSandbox struct {
	Backend string   `json:"backend"` // auto, off
	Network bool     `json:"network"`
	Read    []string `json:"read,omitempty"`
	Write   []string `json:"write,omitempty"`
}

func defaultToolsExec() ToolsExec {
	return ToolsExec{
		ExecApproval: defaultExecApproval(), BackgroundMs: 10_000, TimeoutSec: 1800, NotifyOnExit: true, Sandbox: ExecSandbox{Backend: "auto"},
	}
}

func (e ToolsExec) clone() ToolsExec {
	e.PathPrepend, e.Sandbox.Read, e.Sandbox.Write = slices.Clone(e.PathPrepend), slices.Clone(e.Sandbox.Read), slices.Clone(e.Sandbox.Write)
	return e
}
