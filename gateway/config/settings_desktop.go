package config

// Desktop is hearth.desktop.
type Desktop struct {
	Notifications string     `json:"notifications"`
	QuietHours    QuietHours `json:"quietHours,omitzero"`
	// KeepAwake holds off the computer's sleep while an answer is being worked on.
	KeepAwake bool `json:"keepAwake,omitempty"`
	// QuickKey opens the small window for a question: "ctrl+alt+space", or
	// "off". Empty: the platform's.
	QuickKey string `json:"quickKey,omitempty"`
}

// What is notified about.
const (
	NotifyAll      = "all"
	NotifyRequests = "requests" // only what waits for a yes
	NotifyOff      = "off"
)

// QuietHours are times of day ("22:00") between which nothing pops up; they may
// span midnight. There are none while one of them is empty, so that a form can
// set one after the other.
type QuietHours struct {
	Start string `json:"start,omitempty"`
	End   string `json:"end,omitempty"`
}

func defaultDesktop() Desktop { return Desktop{Notifications: NotifyAll} }
