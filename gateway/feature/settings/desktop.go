package settings

import "github.com/hearth-assistant/hearth/gateway/config"

// Desktop is what the programs of the desktop follow, which read it by config.get
// (app/tray): the gateway itself does nothing with it.
type Desktop struct {
	Notifications string // all, requests (only what waits for a yes), off
	// QuietStart and QuietEnd are times of day between which nothing pops up; they
	// may span midnight. There are none while one of them is empty, so that a form
	// can set one after the other.
	QuietStart, QuietEnd string
	KeepAwake            bool   // holds off the computer's sleep while an answer is being worked on
	QuickKey             string // opens the small window: "ctrl+alt+space", or "off"; empty: the platform's
}

// DesktopSection are the settings in front of the computer.
var DesktopSection = &config.Settings[Desktop]{
	Path:    "hearth.desktop",
	Default: Desktop{Notifications: "all"},
	Fields: func(d *Desktop) []config.Field {
		quiet := func(key string, to *string, example, help string) config.Field {
			return config.Text{
				Key: key, To: to, Max: 5, Is: config.TimeOfDay, Help: help, Hint: config.Hint{Pane: "general", Default: "none", Example: example},
			}
		}
		return []config.Field{
			config.Choice{
				Key: "notifications", To: &d.Notifications, Among: []string{"all", "requests", "off"}, Hint: config.Hint{Pane: "general"},
				Help: "`\"all\"`: requests, answers in chats that nobody looks at, messages that were not delivered; `\"requests\"`: only what " +
					"waits for your yes; `\"off\"`",
			},
			config.Object{Key: "quietHours", Fields: []config.Field{
				quiet("start", &d.QuietStart, "22:00", "from what time of day on nothing pops up, like `\"22:00\"`. Requests wait in the menu"),
				quiet("end", &d.QuietEnd, "07:00", "until when; it may be after midnight"),
			}, Check: func() error {
				if (d.QuietStart == "") != (d.QuietEnd == "") {
					return config.Notice("quiet hours need both a start and an end; with one of them there are none")
				}
				return nil
			}},
			config.Switch{
				Key: "keepAwake", To: &d.KeepAwake, Hint: config.Hint{Pane: "general"},
				Help: "the computer does not fall asleep by itself while an answer is being worked on",
			},
			config.Text{
				Key: "quickKey", To: &d.QuickKey, Max: 40, Empty: true,
				Help: "opens the small window for a question; `\"off\"`: none",
				Hint: config.Hint{Pane: "general", Example: "ctrl+alt+space", Default: "`\"ctrl+alt+space\"`"},
			},
		}
	},
}
