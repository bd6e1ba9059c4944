// Package menu is what the icon in the menu bar shows: which shape it has, and
// which rows its menu has, as values. Drawing them and doing what a row says
// belongs to others, so that all of it is tested without a desktop.
package menu

import (
	"fmt"
	"slices"
	"strings"
	"time"

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

	Model      string // "provider/model"
	Local      bool   // it runs on this computer
	Working    []string
	Activity   string // what the run does, when it is one
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
	Key, Title string
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

// Items are the rows of the menu.
func Items(s State, now time.Time) []Item {
	ready := s.Link == Ready
	rows := []Item{
		{ID: "status", Label: Status(s), Off: true},
		{ID: "model", Label: model(s), Off: true, Hidden: !ready || s.Model == ""},
	}
	for i, a := range s.Approvals {
		rows = append(rows, approval(i, a))
	}
	for i, d := range s.Doors {
		rows = append(rows, door(i, d))
	}
	return append(rows,
		Item{ID: "more", Label: fmt.Sprintf("%d more requests…", s.Waiting-filled(s)), Do: Action{Verb: Open}, Hidden: s.Waiting <= filled(s)},
		Item{ID: "undelivered", Label: fmt.Sprintf("Undelivered (%d)…", s.Undeliv), Do: Action{Verb: Undelivd}, Hidden: s.Undeliv == 0},
		newer(s.Update),
		Item{Line: true},
		Item{ID: "ask", Label: ask(s), Do: Action{Verb: Ask}, Off: !ready},
		Item{ID: "open", Label: "Open chat", Do: Action{Verb: Open}, Off: !ready},
		recent(s, now),
		atWork(s),
		planned(s, now),
		Item{Line: true},
		spend(s),
		devices(s, now),
		pauses(s),
		Item{Line: true},
		Item{ID: "settings", Label: "Settings…", Do: Action{Verb: Settings}, Off: !ready},
		Item{ID: "login", Label: checked(s.AtLogin, "Start at login"), Do: Action{Verb: AtLogin}},
		Item{ID: "help", Label: "Help", Sub: []Item{
			{ID: "why", Label: "Why…? (the last answer)", Do: Action{Why, last(s)}, Off: !ready || last(s) == ""},
			{ID: "logs", Label: "Logs and health…", Do: Action{Settings, "health"}, Off: !ready},
			{ID: "bundle", Label: "Copy support bundle", Do: Action{Verb: Bundle}},
			{ID: "rebuild", Label: "Rebuild menu (when rows are missing)", Do: Action{Verb: Rebuild}},
			{ID: "docs", Label: "Documentation…", Do: Action{Verb: Docs}},
			{ID: "version", Label: "Hearth " + s.Version, Off: true},
		}},
		Item{ID: "quit", Label: quit(s), Do: Action{Verb: QuitAll}},
		Item{ID: "quit-icon", Label: "Quit the icon, Hearth goes on", Do: Action{Verb: QuitIcon}, Hidden: !s.Own || !ready},
	)
}

// Status is the first row, and what a screen reader says of the icon.
func Status(s State) string {
	switch {
	case s.Link == Starting:
		return "Starting…"
	case s.Link == Lost && s.Why != "":
		return "Not running: " + short(s.Why, 90)
	case s.Link == Lost:
		return "Not running"
	case s.Waiting == 1:
		return "Needs you: 1 request"
	case s.Waiting > 1:
		return fmt.Sprintf("Needs you: %d requests", s.Waiting)
	case s.Pending == 1:
		return "Needs you: a device asks to be let in"
	case s.Pending > 1:
		return fmt.Sprintf("Needs you: %d devices ask to be let in", s.Pending)
	case s.Paused != "":
		return "Paused" + till(s.PausedTill)
	case len(s.Problems) > 0:
		return "Problem: " + short(s.Problems[0], 90)
	case len(s.Working) == 1 && s.Activity != "":
		return "Working: " + short(s.Activity, 60)
	case len(s.Working) == 1:
		return "Working: " + short(s.Working[0], 60)
	case len(s.Working) > 1:
		return fmt.Sprintf("Working on %d chats", len(s.Working))
	}
	return "Ready"
}

// Tooltip is what is said of the icon. Everybody in front of the screen sees it:
// no name of a chat, no words of anybody.
func Tooltip(s State) string {
	switch {
	case s.Link == Starting:
		return "Hearth is starting"
	case s.Link == Lost:
		return "Hearth is not running"
	case s.Waiting > 0, s.Pending > 0:
		return "Hearth needs you"
	case s.Paused != "":
		return "Hearth is paused"
	case len(s.Problems) > 0:
		return "Hearth has a problem"
	case len(s.Working) > 0:
		return "Hearth is working"
	}
	return "Hearth is ready"
}

func ask(s State) string {
	if s.QuickKey == "" {
		return "Ask…"
	}
	return "Ask…  (" + s.QuickKey + ")"
}

// last is the chat that was last written in.
func last(s State) string {
	if len(s.Recent) == 0 {
		return ""
	}
	return s.Recent[0].Key
}

func model(s State) string {
	if s.Model == "guide/guide" {
		return "Built-in guide: no model is connected yet"
	}
	if s.Local {
		return s.Model + " (this computer)"
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

func approval(i int, a Approval) Item {
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
	return Item{ID: id(""), Label: "Allow: " + title, Hidden: a.ID == "", Sub: append(rows, []Item{
		{ID: id("-once"), Label: "Allow once", Do: Action{AllowOnce, a.ID}, Hidden: part},
		{ID: id("-here"), Label: "Always allow exactly this here", Do: Action{AllowHere, a.ID}, Hidden: part || !a.Here},
		{ID: id("-folder"), Label: "Allow reading in " + folder, Do: Action{AllowFolder, a.ID}, Hidden: part || a.Folder == "" || !all},
		{ID: id("-deny"), Label: "Don’t allow", Do: Action{Deny, a.ID}},
		{ID: id("-see"), Label: "See all of it…", Do: Action{Verb: Open}},
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

func recent(s State, now time.Time) Item {
	top := Item{ID: "recent", Label: "Recent", Off: len(s.Recent) == 0}
	for i := range RecentSlots {
		id := fmt.Sprintf("recent%d", i)
		row := Item{ID: id, Hidden: true}
		var r Session
		if i < len(s.Recent) {
			r = s.Recent[i]
			row.Label, row.Hidden = short(r.Title, 50)+"  ·  "+age(now.Sub(r.At)), false
			if r.Running {
				row.Label = "● " + row.Label
			}
		}
		row.Sub = []Item{
			{ID: id + "-open", Label: "Open", Do: Action{Open, r.Key}},
			{ID: id + "-stop", Label: "Stop", Do: Action{StopRun, r.Key}, Hidden: !r.Running},
		}
		top.Sub = append(top.Sub, row)
	}
	return top
}

func quit(s State) string {
	if s.Own || s.Link == Starting {
		return "Quit Hearth"
	}
	return "Quit (Hearth goes on in the background)"
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

func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

func till(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " until " + t.Format("15:04")
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
