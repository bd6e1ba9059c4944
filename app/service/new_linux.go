package service

// New is this system's manager. env looks up environment variables.
func New(run Run, env func(string) string) Manager {
	return Systemd{Run: run, ConfigHome: env("XDG_CONFIG_HOME")}
}
