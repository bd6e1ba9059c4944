// Package menu is what the icon in the menu bar shows: which shape it has, and
// which rows its menu has, as values. Drawing them and doing what a row says
// belongs to others, so that all of it is tested without a desktop.
package menu

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/frontend/src/i18n"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Link is how the tray stands to the gateway.
type Link int

// Starting until the first answer, Ready while connected, Lost in between.
const (
	Starting Link = iota
	Ready
	Lost
)

// State is all that the menu shows.
type State struct {
	Link    Link
	Why     string // of Lost
	Version string

	Model      string   // "provider/model"
	Local      bool     // it runs on this computer
	Working    []string // what the chats are called; "" is the home chat
	Activity   string   // what the run does, when it is one
	Problems   []string
	Waiting    int // approvals
	Approvals  [RequestSlots]Approval
	Undeliv    int
	Recent     []Session
	Today      float64
	Limit      float64 // 0: none
	Currency   string
	Used       bool    // the allowance is used up: messages wait
	Spent      []Spent // today, dearest first
	Devices    []Device
	Pending    int // devices that ask to be let in
	Doors      [RequestSlots]Door
	Address    string // where other machines reach Hearth; empty: they do not
	Paused     string // "", tools, network, everything
	PausedTill time.Time
	Next       Job    // what is planned next; the zero value: nothing
	Tasks      Tasks  // what works in the background; the zero value: nothing
	Update     Update // a newer version; the zero value: none
	Own        bool   // the gateway was started by this program
	AtLogin    bool   // this program starts at login
	QuickKey   string // asks from everywhere; empty: none
}

// Tasks is what works in the background.
type Tasks struct {
	N       int
	Title   string // of the first
	Percent int    // how far that is; below 0: nobody knows
}

// How many requests of each kind, sessions, devices and models have rows of
// their own.
const (
	RequestSlots = 3
	RecentSlots  = 5
	DeviceSlots  = 5
	SpentSlots   = 3
)

// titleChars is how much of what is asked for has place in a row.
const titleChars = 60

// LineSlots are the rows for what else there is to know of a request, and
// lineChars is how much has place in one.
const (
	LineSlots = 6
	lineChars = 120
)

// Approval is a request that waits for a yes; the zero value is an empty slot.
type Approval struct {
	ID    string
	Says  string   // what it asks for, in one sentence
	Title string   // exactly what it asks for
	Lines []string // all there is to know beside the title
	From  string   // who said the words that led here
	Part  bool     // there is more to it than the lines say
	Here  bool     // it can be allowed for good in its folder
	// Folder can be allowed to be read, all of it.
	Folder string
}

// Session is a row of Recent.
type Session struct {
	Key, Title string // no title: the home chat
	At         time.Time
	Running    bool
}

// Device is another machine, or a program, that was let in.
type Device struct {
	Name string
	On   bool
	Seen time.Time // the last time; zero: never
}

// Job is something that Hearth will do by itself.
type Job struct {
	Name string
	At   time.Time
}

// Spent is what a model cost.
type Spent struct {
	Model  string
	Amount float64
}

// Verb is what a row does.
type Verb string

// The verbs. Arg of an Action is the request, the session or the time.
const (
	Open        Verb = "open" // Arg: a session key, or nothing
	Ask         Verb = "ask"
	AllowOnce   Verb = "allow-once"
	AllowHere   Verb = "allow-here"
	AllowFolder Verb = "allow-folder"
	Deny        Verb = "deny"
	LetIn       Verb = "let-in" // Arg: the request of a device
	TurnAway    Verb = "turn-away"
	StopRun     Verb = "stop"
	PauseHour   Verb = "pause-hour"
	PauseDay    Verb = "pause-day"
	PauseTools  Verb = "pause-tools"
	PauseNet    Verb = "pause-network"
	Resume      Verb = "resume"
	Settings    Verb = "settings" // Arg: a part of the settings
	Undelivd    Verb = "undelivered"
	Allow       Verb = "allow"        // one answer beyond the allowance
	CopyAddr    Verb = "copy-address" // Arg: the address
	Why         Verb = "why"          // Arg: a session key
	Docs        Verb = "docs"
	Rebuild     Verb = "rebuild"
	Install     Verb = "update" // the newer version, and start it
	Bundle      Verb = "bundle"
	AtLogin     Verb = "at-login"
	QuitAll     Verb = "quit"
	QuitIcon    Verb = "quit-icon" // the gateway goes on
)

// Action is a verb and what it is about.
type Action struct {
	Verb Verb
	Arg  string
}

// Item is a row. The same rows are always there in the same order: some trays
// cannot take rows away, they can only hide them.
type Item struct {
	ID     string // stable
	Label  string
	Do     Action
	Off    bool // cannot be chosen
	Hidden bool
	Line   bool // a line between rows
	Sub    []Item
}

// Items are the rows of the menu in the language of w.
func Items(s State, w *i18n.Words, now time.Time) []Item {
	ready := s.Link == Ready
	rows := []Item{
		{ID: "status", Label: Status(s, w), Off: true},
		{ID: "model", Label: model(s, w), Off: true, Hidden: !ready || s.Model == ""},
	}
	for i, a := range s.Approvals {
		rows = append(rows, approval(w, i, a))
	}
	for i, d := range s.Doors {
		rows = append(rows, door(w, i, d))
	}
	return append(rows,
		Item{ID: "more", Label: w.Say("more", "n", s.Waiting-filled(s)), Do: Action{Verb: Open}, Hidden: s.Waiting <= filled(s)},
		Item{ID: "undelivered", Label: w.Say("undelivered", "n", s.Undeliv), Do: Action{Verb: Undelivd}, Hidden: s.Undeliv == 0},
		newer(w, s.Update),
		Item{Line: true},
		Item{ID: "ask", Label: ask(s, w), Do: Action{Verb: Ask}, Off: !ready},
		Item{ID: "open", Label: w.Say("chat"), Do: Action{Verb: Open}, Off: !ready},
		recent(s, w, now),
		atWork(s, w),
		planned(s, w, now),
		Item{Line: true},
		spend(s, w),
		devices(s, w, now),
		pauses(s, w),
		Item{Line: true},
		Item{ID: "settings", Label: w.Say("settings"), Do: Action{Verb: Settings}, Off: !ready},
		Item{ID: "login", Label: checked(s.AtLogin, w.Say("login")), Do: Action{Verb: AtLogin}},
		Item{ID: "help", Label: w.Say("help"), Sub: []Item{
			{ID: "why", Label: w.Say("why"), Do: Action{Why, last(s)}, Off: !ready || last(s) == ""},
			{ID: "logs", Label: w.Say("logs"), Do: Action{Settings, "health"}, Off: !ready},
			{ID: "bundle", Label: w.Say("bundle"), Do: Action{Verb: Bundle}},
			{ID: "rebuild", Label: w.Say("rebuild"), Do: Action{Verb: Rebuild}},
			{ID: "docs", Label: w.Say("docs"), Do: Action{Verb: Docs}},
			{ID: "version", Label: "Hearth " + s.Version, Off: true},
		}},
		Item{ID: "quit", Label: quit(s, w), Do: Action{Verb: QuitAll}},
		Item{ID: "quit-icon", Label: w.Say("quit.icon"), Do: Action{Verb: QuitIcon}, Hidden: !s.Own || !ready},
	)
}

// Status is the first row, and what a screen reader says of the icon.
func Status(s State, w *i18n.Words) string {
	switch {
	case s.Link == Starting:
		return w.Say("status.starting")
	case s.Link == Lost && s.Why != "":
		return w.Say("status.lost.why", "why", short(s.Why, 90))
	case s.Link == Lost:
		return w.Say("status.lost")
	case s.Waiting > 0:
		return w.Say("status.requests", "n", s.Waiting)
	case s.Pending > 0:
		return w.Say("status.devices", "n", s.Pending)
	case s.Paused != "" && s.PausedTill.IsZero():
		return w.Say("status.paused")
	case s.Paused != "":
		return w.Say("status.paused.until", "time", s.PausedTill.Format("15:04"))
	case len(s.Problems) > 0:
		return w.Say("status.problem", "what", short(s.Problems[0], 90))
	case len(s.Working) == 1 && s.Activity != "":
		return w.Say("status.working", "what", short(s.Activity, 60))
	case len(s.Working) == 1:
		return w.Say("status.working", "what", chatTitle(s.Working[0], 60, w))
	case len(s.Working) > 1:
		return w.Say("status.chats", "n", len(s.Working))
	}
	return w.Say("status.ready")
}

// Tooltip is what is said of the icon. Everybody in front of the screen sees it:
// no name of a chat, no words of anybody.
func Tooltip(s State, w *i18n.Words) string {
	switch {
	case s.Link == Starting:
		return w.Say("icon.starting")
	case s.Link == Lost:
		return w.Say("icon.lost")
	case s.Waiting > 0, s.Pending > 0:
		return w.Say("icon.needs")
	case s.Paused != "":
		return w.Say("icon.paused")
	case len(s.Problems) > 0:
		return w.Say("icon.problem")
	case len(s.Working) > 0:
		return w.Say("icon.working")
	}
	return w.Say("icon.ready")
}

func ask(s State, w *i18n.Words) string {
	if s.QuickKey == "" {
		return w.Say("ask")
	}
	return w.Say("ask") + "  (" + s.QuickKey + ")"
}

// last is the chat that was last written in.
func last(s State) string {
	if len(s.Recent) == 0 {
		return ""
	}
	return s.Recent[0].Key
}

func model(s State, w *i18n.Words) string {
	if s.Model == "guide/guide" {
		return w.Say("model.guide")
	}
	if s.Local {
		return w.Say("model.here", "model", s.Model)
	}
	return s.Model
}

func filled(s State) (n int) {
	for _, a := range s.Approvals {
		if a.ID != "" {
			n++
		}
	}
	return n
}

func approval(w *i18n.Words, i int, a Approval) Item {
	id := func(part string) string { return fmt.Sprintf("approval%d%s", i, part) }
	var rows []Item
	said := a.Lines[:min(len(a.Lines), LineSlots)]
	if a.From != "" && len(said) < LineSlots {
		said = append(slices.Clone(said), a.From)
	}
	for n := range LineSlots {
		row := Item{ID: id(fmt.Sprintf("-line%d", n)), Off: true, Hidden: true}
		if n < len(said) {
			row.Label, row.Hidden = short(said[n], lineChars), false
		}
		rows = append(rows, row)
	}
	// What is not seen to its end cannot be allowed here (A-EXEC-13).
	title, _ := Whole(a.Title)
	part := !a.Seen()
	folder, all := Whole(a.Folder)
	return Item{ID: id(""), Label: w.Say("allow", "what", title), Hidden: a.ID == "", Sub: append(rows, []Item{
		{ID: id("-once"), Label: w.Say("allow.once"), Do: Action{AllowOnce, a.ID}, Hidden: part},
		{ID: id("-here"), Label: w.Say("allow.here"), Do: Action{AllowHere, a.ID}, Hidden: part || !a.Here},
		{ID: id("-folder"), Label: w.Say("allow.folder", "folder", folder), Do: Action{AllowFolder, a.ID},
			Hidden: part || a.Folder == "" || !all},
		{ID: id("-deny"), Label: w.Say("deny"), Do: Action{Deny, a.ID}},
		{ID: id("-see"), Label: w.Say("see"), Do: Action{Verb: Open}},
	}...)}
}

// Seen reports whether all of a request has place here: only then can it be
// allowed here.
func (a Approval) Seen() bool {
	_, whole := Whole(a.Title)
	return whole && !a.Part && len(a.Lines) <= LineSlots &&
		!slices.ContainsFunc(a.Lines, func(l string) bool { return short(l, lineChars) != strings.TrimSpace(l) })
}

// Whole is what has place in a row of what a request asks for, and whether that
// is all of it.
func Whole(title string) (string, bool) {
	s := short(title, titleChars)
	return s, s == title
}

func recent(s State, w *i18n.Words, now time.Time) Item {
	top := Item{ID: "recent", Label: w.Say("recent"), Off: len(s.Recent) == 0}
	for i := range RecentSlots {
		id := fmt.Sprintf("recent%d", i)
		row := Item{ID: id, Hidden: true}
		var r Session
		if i < len(s.Recent) {
			r = s.Recent[i]
			row.Label, row.Hidden = chatTitle(r.Title, 50, w)+"  ·  "+age(w, now.Sub(r.At)), false
			if r.Running {
				row.Label = "● " + row.Label
			}
		}
		row.Sub = []Item{
			{ID: id + "-open", Label: w.Say("open"), Do: Action{Open, r.Key}},
			{ID: id + "-stop", Label: w.Say("stop"), Do: Action{StopRun, r.Key}, Hidden: !r.Running},
		}
		top.Sub = append(top.Sub, row)
	}
	return top
}

func quit(s State, w *i18n.Words) string {
	if s.Own || s.Link == Starting {
		return w.Say("quit")
	}
	return w.Say("quit.background")
}

// chatTitle is what a chat is called in a row.
func chatTitle(title string, n int, w *i18n.Words) string {
	if title == "" {
		return w.Say("home")
	}
	return short(title, n)
}

// short is one line of at most n characters that shows what it says: no
// control characters, and none that turn the direction of writing.
func short(s string, n int) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r':
			return ' '
		case r < ' ', r == 0x7f, r >= 0x80 && r < 0xa0:
			return -1
		case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, s)
	return text.Ellipsis(text.Line(clean), n)
}

// checked marks a row in its words: trays differ in how they show a tick.
func checked(on bool, label string) string {
	if on {
		return "✓ " + label
	}
	return label
}

func age(w *i18n.Words, d time.Duration) string {
	switch {
	case d < time.Minute:
		return w.Say("age.now")
	case d < time.Hour:
		return w.Say("age.minutes", "n", int(d.Minutes()))
	case d < 24*time.Hour:
		return w.Say("age.hours", "n", int(d.Hours()))
	}
	return w.Say("age.days", "n", int(d.Hours()/24))
}

func money(n float64, currency string) string {
	switch currency {
	case "EUR":
		return fmt.Sprintf("€%.2f", n)
	case "GBP":
		return fmt.Sprintf("£%.2f", n)
	case "USD", "":
		return fmt.Sprintf("$%.2f", n)
	}
	return fmt.Sprintf("%.2f %s", n, short(currency, 8))
}

func gauge(part float64) string {
	full := min(max(int(part*5+0.5), 0), 5)
	return strings.Repeat("▓", full) + strings.Repeat("░", 5-full)
}
