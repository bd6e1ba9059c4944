package cli

import (
	"github.com/hearth-assistant/hearth/app/autostart"
	"github.com/hearth-assistant/hearth/app/beside"
	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// atLogin has the icon start at login, and with it the gateway.
type atLogin struct{ autostart.Entry }

// On is false where nobody can say.
func (l atLogin) On() bool {
	on, err := l.Enabled()
	return err == nil && on
}

func (l atLogin) Set(on bool) error {
	if on {
		return l.Enable()
	}
	return l.Disable()
}

// startAtLogin is nil where the icon is not installed beside this program: a
// gateway without a desktop is started by hearth service.
func startAtLogin(env func(string) string) gateway.AtLogin {
	tray, ok := beside.Find("hearth-tray")
	home := statedir.Home(env)
	if !ok || home == "" {
		return nil
	}
	return atLogin{autostart.Entry{Exe: tray, Home: home, Config: env("XDG_CONFIG_HOME")}}
}
