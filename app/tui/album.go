package tui

import (
	"fmt"
	"image"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"github.com/hearth-assistant/hearth/app/tui/picture"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	// albumBytes is what all pictures together may take, here or in the terminal.
	albumBytes = 64 << 20
	// albumWork is how many pictures are fetched or made at a time.
	albumWork = 2
	// answerTime is how long a terminal may take to say what it can.
	answerTime = 2 * time.Second
)

// album is what is known of pictures: how the terminal shows them, and those of
// the conversations.
type album struct {
	asked   picture.Means
	around  picture.Surroundings
	answers picture.Answers
	means   picture.Means // in use
	known   bool          // what the terminal can
	canvas  *canvas       // nil where none can be drawn over cells
	// window is the size of the window in pixels as the system knows it; nil = it does not.
	window func() picture.Size

	numbers  int // the first number
	byKey    map[string]*photo
	byNumber map[int]*photo
	seen     []picture.Place // of the last screen
	busy     int
	layout   int // changes whenever all have to be fitted anew
	epoch    int // changes whenever all have to be made anew
	clock    int // of what was seen last
	frame    int // the last one that changed what is drawn
	strokes  []stroke
	told     string // what the terminal is told with the next frame
}

// photo is one picture of one message.
type photo struct {
	number   int
	id, name string
	w, h     int // pixels
	size     picture.Size
	layout   int  // for which size was fitted
	stale    bool // what there is was made for another size

	busy   bool
	failed string
	later  int // the connection with which it is not tried again
	seen   int
	bytes  int // of what follows, or of what the terminal has
	scaled *image.NRGBA
	lines  []string          // of half blocks
	pieces map[[2]int]string // by first row and height, for terminals that draw over cells
	given  bool              // kitty has it
	times  int               // how often it was given
}

func newAlbum(asked picture.Means, around picture.Surroundings, c *canvas, numbers int) album {
	a := album{asked: asked, around: around, canvas: c, means: picture.Off, numbers: numbers % (picture.MaxNumber / 2),
		byKey: map[string]*photo{}, byNumber: map[int]*photo{}}
	return a
}

// question asks the terminal what it can, unless nobody wants to know.
func (a *album) question() tea.Cmd {
	if a.asked == "" || a.asked == picture.Off || a.asked == picture.Auto && a.around.NoColour {
		return nil
	}
	return tea.Batch(tea.Raw(a.around.Question()), tea.Tick(answerTime, func(time.Time) tea.Msg { return answeredMsg{} }))
}

// answeredMsg: the terminal has had time to answer.
type answeredMsg struct{}

// photoMsg is the end of work on a picture.
type photoMsg struct {
	number, epoch int
	size          picture.Size
	made          photo // what it has now
	piece         [2]int
	raw           string // what the terminal is given
	err           error
}

// terminal takes what the terminal says of itself, and ends of work.
func (m *Model) terminal(msg tea.Msg) (taken bool) {
	a := &m.pics
	switch msg := msg.(type) {
	case tea.TerminalVersionMsg:
		a.answers.Version = msg.Name
	case uv.KittyGraphicsEvent:
		if string(msg.Payload) == "OK" {
			a.answers.Kitty = true
		}
	case uv.CellSizeEvent:
		m.cellIs(picture.Size{W: msg.Width, H: msg.Height})
	case uv.PixelSizeEvent:
		if a.answers.Cell.W == 0 && m.w > 0 && m.h > 0 {
			m.cellIs(picture.Size{W: msg.Width / m.w, H: msg.Height / m.h})
		}
	case uv.PrimaryDeviceAttributesEvent:
		a.answers.Sixel = a.answers.Sixel || slices.Contains(msg, 4)
		m.decide()
	case answeredMsg:
		if !a.known {
			m.decide()
		}
	case photoMsg:
		m.madePhoto(msg)
	default:
		return false
	}
	return true
}

// mostCell is how large a cell may be in pixels: a terminal may say anything.
const mostCell = 200

func (m *Model) cellIs(s picture.Size) {
	if s.W < 1 || s.H < 1 || s.W > mostCell || s.H > mostCell || s == m.pics.answers.Cell {
		return
	}
	m.pics.answers.Cell = s
	m.remake()
}

// resized has what is on the screen fitted again; the size of a cell may have
// changed with the screen's.
func (m *Model) resized() tea.Cmd {
	a := &m.pics
	m.refit()
	if a.window != nil && m.w > 0 && m.h > 0 {
		s := a.window()
		m.cellIs(picture.Size{W: s.W / m.w, H: s.H / m.h})
	}
	if a.means != picture.Kitty && !a.means.Raw() {
		return nil
	}
	return tea.Raw(picture.CellQuestion)
}

// decide chooses the means from what is known.
func (m *Model) decide() {
	a := &m.pics
	a.known = true
	means := picture.Choose(a.asked, a.around, a.answers)
	if means.Raw() && a.canvas == nil {
		means = picture.Off
	}
	if means == a.means {
		return
	}
	m.remake()
	if a.means = means; means == picture.Sixel && !a.around.InTmux {
		a.tell(picture.MoreColours)
	}
}

// refit has all pictures fitted into the room that there is now.
func (m *Model) refit() {
	m.pics.layout++
	for _, r := range m.rooms {
		r.total = 0 // the lines that are read stay where they are, from below
	}
}

// remake has all pictures made anew, and takes back those that the terminal has.
func (m *Model) remake() {
	m.refit()
	m.pics.epoch++
	for _, p := range m.pics.byNumber {
		m.pics.drop(p)
	}
}

// tell says something to the terminal before the next frame, in the order in which
// it was said: what a frame shows must be there before it.
func (a *album) tell(raw string) {
	if a.canvas != nil {
		a.told += raw
	}
}

// drop forgets what was made of a picture, here and in the terminal.
func (a *album) drop(p *photo) {
	if p.given {
		a.tell(picture.Forget(p.number, a.around.InTmux))
	}
	p.scaled, p.lines, p.pieces, p.given, p.stale, p.bytes = nil, nil, nil, false, false, 0
}

// leave is what takes all pictures from the terminal that it was given.
func (a *album) leave() (raw string) {
	for _, p := range a.byNumber {
		if p.given {
			raw += picture.Forget(p.number, a.around.InTmux)
		}
	}
	return raw
}

// of finds or makes the picture of a block; room is the cells that there are.
func (a *album) of(key string, b *protocol.Block, room picture.Size) *photo {
	p := a.byKey[key]
	if p == nil || p.id != b.MediaID {
		if len(a.byNumber) >= picture.MaxNumber/2 {
			return nil
		}
		p = &photo{number: a.numbers + len(a.byNumber) + 1, id: b.MediaID, name: b.FileName, w: b.Width, h: b.Height, layout: -1, later: -1}
		a.byKey[key], a.byNumber[p.number] = p, p
	}
	if p.layout != a.layout {
		p.layout = a.layout
		if size := picture.Fit(p.w, p.h, a.answers.Cell, room); size != p.size {
			p.size, p.stale, p.lines = size, p.bytes > 0, nil
		}
	}
	return p
}

// wide is how many cells a row of a picture has.
func (a *album) wide(number int) int {
	if p := a.byNumber[number]; p != nil {
		return p.size.W
	}
	return 0
}

// stamp tells drawings apart that differ in a picture.
func (a *album) stamp(key string) string {
	p := a.byKey[key]
	if p == nil {
		return ""
	}
	return fmt.Sprint(p.failed != "", len(p.lines))
}

// look notes which pictures are on the screen, and gives work for those that are
// not there yet.
func (m *Model) look(places []picture.Place) tea.Cmd {
	a := &m.pics
	a.seen = places
	var cmds []tea.Cmd
	a.clock++
	for _, at := range places {
		p := a.byNumber[at.Number]
		if p.seen = a.clock; p.stale {
			a.drop(p)
		}
		if p.busy || p.failed != "" || a.busy >= albumWork || m.link != connected || p.later == m.life {
			continue
		}
		switch {
		case a.means.Raw() && p.scaled != nil && p.pieces[[2]int{at.From, at.H}] == "":
			cmds = append(cmds, m.cutPhoto(p, at.From, at.H))
		case a.means.Raw() && p.scaled != nil, p.given, p.lines != nil:
			continue
		default:
			cmds = append(cmds, m.fetchPhoto(p))
		}
		p.busy = true
		a.busy++
	}
	a.tidy()
	return tea.Batch(cmds...)
}

// tidy forgets what was not seen for long, when all pictures take too much.
func (a *album) tidy() {
	sum := 0
	var list []*photo
	for _, p := range a.byNumber {
		sum += p.bytes
		if p.bytes > 0 && p.seen < a.clock {
			list = append(list, p)
		}
	}
	if sum <= albumBytes {
		return
	}
	slices.SortFunc(list, func(p, q *photo) int { return p.seen - q.seen })
	for _, p := range list {
		if sum <= albumBytes {
			break
		}
		sum -= p.bytes
		a.drop(p)
	}
}

// madePhoto takes the end of work on a picture.
func (m *Model) madePhoto(msg photoMsg) {
	a := &m.pics
	a.busy--
	p := a.byNumber[msg.number]
	p.busy = false
	switch {
	case msg.err != nil && passing(msg.err):
		p.later = m.life
		return
	case msg.err != nil:
		p.failed = m.plainError(msg.err)
		return
	case msg.epoch != a.epoch || msg.size != p.size:
		return // it was made for another size, and is made again
	case msg.piece != [2]int{}:
		if p.scaled == nil {
			return
		}
		if p.pieces == nil || len(p.pieces) > 2*p.size.H { // of a picture that scrolls by, each one once
			p.pieces = map[[2]int]string{}
		}
		p.pieces[msg.piece] = msg.raw
		p.bytes += len(msg.raw)
		return
	}
	p.scaled, p.lines, p.bytes = msg.made.scaled, msg.made.lines, msg.made.bytes
	if msg.made.w != p.w || msg.made.h != p.h { // the block did not say
		p.w, p.h = msg.made.w, msg.made.h
		a.drop(p)
		m.refit()
		return
	}
	if p.given = msg.raw != ""; p.given {
		p.times++
	}
	a.tell(msg.raw)
}
