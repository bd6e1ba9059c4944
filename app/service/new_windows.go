package service

// New is this system's manager. env looks up environment variables.
func New(run Run, env func(string) string) Manager {
	return Tasks{Run: run, User: env("USERDOMAIN") + `\` + env("USERNAME")}
}
