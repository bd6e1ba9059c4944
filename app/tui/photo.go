package tui

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/hearth-assistant/hearth/app/terminal"
	"github.com/hearth-assistant/hearth/app/tui/picture"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// photoRoom is the cells that one picture may take: a third of the screen's height.
func (m *Model) photoRoom(w int) picture.Size {
	return picture.Size{W: max(1, w-4), H: max(1, m.h/3)}
}

// showing reports whether pictures are more than their names here.
func (a *album) showing() bool { return a.means != picture.Off }

// attachments draws the pictures and files of a message.
func (m *Model) attachments(r *room, id string, blocks []protocol.Block, w int) (lines []string) {
	t := &m.theme
	for i := range blocks {
		b := &blocks[i]
		switch {
		case b.Type == protocol.BlockImage:
			lines = append(lines, m.drawPhoto(photoKey(r, id, i), b, w)...)
		case b.Type == protocol.BlockFile && b.File != nil:
			lines = append(lines, "  "+t.dim.paint(clip("[file "+terminal.Line(b.File.Name)+", "+sized(b.File.Size)+"]", w-2)))
		}
	}
	return lines
}

func photoKey(r *room, id string, i int) string { return r.key + "\x00" + id + "\x00" + itoa(i) }

// drawPhoto draws a picture under its name.
func (m *Model) drawPhoto(key string, b *protocol.Block, w int) []string {
	t := &m.theme
	words := caption(b)
	if !m.pics.showing() || b.MediaID == "" {
		return []string{"  " + t.dim.paint(clip("["+words+"]", w-2))}
	}
	p := m.pics.of(key, b, m.photoRoom(w))
	switch {
	case p == nil:
		return []string{"  " + t.dim.paint(clip("["+words+"]", w-2))}
	case p.failed != "":
		return []string{"  " + t.dim.paint(clip("["+words+", not shown: "+terminal.Line(p.failed)+"]", w-2))}
	}
	rows := p.lines
	if rows == nil {
		rows = picture.Rows(p.number, p.size)
	}
	return append([]string{"  " + t.dim.paint(clip("["+words+"]", w-2))}, indent(rows)...)
}

// caption names a picture, also for who cannot see it.
func caption(b *protocol.Block) string {
	words := "picture"
	if name := terminal.Line(b.FileName); name != "" {
		words += " " + name
	}
	if b.Width > 0 && b.Height > 0 {
		words += ", " + itoa(b.Width) + "×" + itoa(b.Height)
	}
	return words
}

// toolPictures are those that a tool's result shows to people.
func toolPictures(res *protocol.Message) (out []protocol.Block) {
	if res == nil || len(res.Details) == 0 || !strings.Contains(string(res.Details), `"media"`) {
		return nil
	}
	var d struct {
		Media []protocol.Block `json:"media"`
	}
	if json.Unmarshal(res.Details, &d) != nil {
		return nil
	}
	for _, b := range d.Media {
		if b.Type == protocol.BlockImage && b.MediaID != "" && len(out) < maxFiles {
			out = append(out, b)
		}
	}
	return out
}

// photoStamp tells drawings of a message apart that differ in pictures.
func (m *Model) photoStamp(r *room, msg *protocol.Message, results map[string]*protocol.Message) (s string) {
	for i, b := range msg.Content {
		if b.Type == protocol.BlockImage {
			s += m.pics.stamp(photoKey(r, msg.Meta.ID, i))
		}
		if res := results[b.ID]; b.Type == protocol.BlockToolCall && res != nil {
			for k := range toolPictures(res) {
				s += m.pics.stamp(photoKey(r, res.Meta.ID, k))
			}
		}
	}
	if s != "" || m.pics.layout > 0 {
		s += fmt.Sprint(" ", m.pics.layout, m.h/3)
	}
	return s
}

// media fetches a picture from the gateway.
func (m *Model) media(id string) ([]byte, error) {
	var got protocol.Media
	if err := m.wire.Call(m.ctx, protocol.MethodMediaGet, protocol.MediaGetParams{ID: id}, &got); err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(got.Content)
	if err != nil {
		return nil, picture.ErrBroken
	}
	return data, nil
}

// fetchPhoto fetches a picture and makes of it what the terminal shows.
func (m *Model) fetchPhoto(p *photo) tea.Cmd {
	a := &m.pics
	id, size, cell, means, inTmux, number := p.id, p.size, a.answers.Cell, a.means, a.around.InTmux, p.number
	msg := photoMsg{number: number, epoch: a.epoch, size: size}
	return func() tea.Msg {
		data, err := m.media(id)
		if err != nil {
			msg.err = err
			return msg
		}
		img, err := picture.Decode(data)
		if err != nil {
			msg.err = err
			return msg
		}
		msg.made = photo{w: img.Bounds().Dx(), h: img.Bounds().Dy()}
		switch means {
		case picture.Blocks:
			msg.made.lines = picture.HalfBlocks(img, size)
			for _, l := range msg.made.lines {
				msg.made.bytes += len(l)
			}
		default:
			scaled := picture.Scale(img, size, cell)
			msg.made.bytes = len(scaled.Pix)
			if means == picture.Kitty || means == picture.Placed {
				msg.raw, msg.err = picture.Transmit(means, number, scaled, size, inTmux)
				return msg
			}
			msg.made.scaled = scaled
		}
		return msg
	}
}

// cutPhoto makes what draws some rows of a picture.
func (m *Model) cutPhoto(p *photo, from, rows int) tea.Cmd {
	img, size, means := p.scaled, p.size, m.pics.means
	msg := photoMsg{number: p.number, epoch: m.pics.epoch, size: size, piece: [2]int{from, rows}}
	return func() tea.Msg {
		msg.raw, msg.err = picture.Piece(means, img, size, from, rows)
		return msg
	}
}

// paintPhotos says how the pictures on the screen are drawn over it; what it
// returns is the title of the frame that has them.
func (m *Model) paintPhotos(places []picture.Place) (title string) {
	a := &m.pics
	if a.canvas == nil {
		return windowTitle
	}
	var list []stroke
	if a.means.Raw() {
		for _, at := range places {
			p := a.byNumber[at.Number]
			s := stroke{Place: at, draw: p.pieces[[2]int{at.From, at.H}]}
			if p.given && !p.stale {
				s.given = p.times
				s.draw, s.gone = picture.Put(p.number, p.size, a.answers.Cell, at.From, at.H)
			}
			if s.draw != "" {
				list = append(list, s)
			}
		}
	}
	if !slices.Equal(list, a.strokes) || a.told != "" {
		a.frame++
		a.canvas.stage(a.frame, list, a.told)
		a.strokes, a.told = list, ""
	}
	if a.frame == 0 {
		return windowTitle
	}
	return titleOf(a.frame)
}

// chooseImages shows pictures by other means.
func (m *Model) chooseImages(name string) tea.Cmd {
	a := &m.pics
	if !picture.Known(name) {
		m.notice = "Pictures are shown by " + strings.Join(picture.Names(), ", ") + "; now by " + string(a.means) + "."
		return nil
	}
	a.asked = picture.Means(name)
	if a.known || a.asked == picture.Off {
		m.decide()
		return nil
	}
	return a.question()
}

// openPhoto shows a picture in the program that the system has for it: the lowest
// one on the screen, or the newest of the conversation.
func (m *Model) openPhoto() tea.Cmd {
	id, name := m.photoAtHand()
	switch {
	case id == "":
		m.notice = "There is no picture here."
		return nil
	case m.viewer == nil:
		m.notice = "No program here shows pictures. `hearth open` has them in the browser."
		return nil
	}
	m.notice = "Opening " + cmp.Or(name, "the picture") + "…"
	return func() tea.Msg {
		err := m.putAside(id)
		return doneMsg{what: "open the picture", err: err}
	}
}

func (m *Model) photoAtHand() (id, name string) {
	low := -1
	for _, at := range m.pics.seen {
		if p := m.pics.byNumber[at.Number]; p != nil && at.Y+at.H > low {
			id, name, low = p.id, p.name, at.Y+at.H
		}
	}
	if id != "" || m.room == nil {
		return id, terminal.Line(name)
	}
	for i := len(m.room.msgs) - 1; i >= 0; i-- {
		msg := &m.room.msgs[i]
		for _, b := range slices.Concat(toolPictures(msg), msg.Content) {
			if b.Type == protocol.BlockImage && b.MediaID != "" {
				return b.MediaID, terminal.Line(b.FileName)
			}
		}
	}
	return "", ""
}

// putAside gives a picture to the program that shows it. What the file is called
// comes from what it is, not from who sent it.
func (m *Model) putAside(id string) error {
	data, err := m.media(id)
	if err != nil {
		return err
	}
	ext := picture.Extension(data)
	if ext == "" {
		return picture.ErrKind
	}
	return m.viewer.show("picture-"+plainID(id)+ext, data)
}

// plainID leaves what a file's name may have of an id.
func plainID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, id[:min(len(id), 16)])
}

// viewer shows a file in the program that the system has for it.
type viewer interface {
	show(name string, data []byte) error
}

// aside is a folder of this run for files that other programs show.
type aside struct {
	open func(path string) error

	mu  sync.Mutex
	dir string
}

func (a *aside) show(name string, data []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dir == "" {
		dir, err := os.MkdirTemp("", "hearth-pictures-")
		if err != nil {
			return fmt.Errorf("keep it for the program that shows it: %w", err)
		}
		a.dir = dir
	}
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("keep it for the program that shows it: %w", err)
	}
	return a.open(path)
}

// clear removes what was shown.
func (a *aside) clear() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dir == "" {
		return nil
	}
	return os.RemoveAll(a.dir)
}
