package execution

import "github.com/hearth-assistant/hearth/gateway/config"

// Configured is what the file says of the machine as commands find it.
type Configured struct {
	PathPrepend []string // folders of programs before the system's
	Sandbox     Confinement
}

// Confinement is what commands may touch.
type Confinement struct {
	Backend     string // auto, off
	Network     bool
	Read, Write []string
}

// Section are the settings of what commands find.
var Section = &config.Settings[Configured]{
	Path:    "tools.exec",
	Default: Configured{Sandbox: Confinement{Backend: "auto"}},
	Fields: func(c *Configured) []config.Field {
		return []config.Field{
			folders("pathPrepend", &c.PathPrepend, "folders with programs of yours, looked in before the system's. Commands never get the `PATH` "+
				"that Hearth was started with. After a restart"),
			config.Choice{
				Key: "host", Among: []string{"gateway", "auto"},
				Help: "commands run on the gateway's computer; `auto` means the same in this version",
			},
			config.Object{Key: "sandbox", Fields: []config.Field{
				config.Choice{
					Key: "backend", To: &c.Sandbox.Backend, Among: []string{"auto", "off"}, Hint: config.Hint{Pane: "tools"},
					Help: "`auto` confines commands where the system can (Linux with Landlock, macOS); `off` does not, and every question says so",
				},
				config.Switch{
					Key: "network", To: &c.Sandbox.Network, Hint: config.Hint{Pane: "tools"},
					Help: "whether confined commands reach the network",
				},
				folders("read", &c.Sandbox.Read, "folders that they may read beside the system's programs and the workspace"),
				folders("write", &c.Sandbox.Write, "folders that they may change beside the workspace and their own temporary files"),
			}},
			config.Later("node", "safeBins", "safeBinTrustedDirs", "safeBinProfiles", "strictInlineEval", "mode", "cleanupMs",
				"notifyOnExitEmptySuccess", "approvalRunningNoticeMs", "applyPatch", "reviewer"),
		}
	},
}

func folders(key string, to *[]string, help string) config.Field {
	return config.Texts{Key: key, To: to, Is: config.Folder, Unset: true, Help: help, Hint: config.Hint{Default: "none"}}
}
