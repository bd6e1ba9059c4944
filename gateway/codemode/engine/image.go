package engine

import (
	"bytes"
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
)

const chunk = 4096 // what images and snapshots are compared by

// image is a VM's memory as a list of the chunks that are not zero. Images of
// catalogues share with the boot image what they did not change.
type image struct {
	size  uint32
	pages [][]byte // nil: zero
}

var zeroes [chunk]byte

// inStack says that a chunk belongs to the C stack, which is dead whenever the
// guest does not run: it is neither kept nor compared.
func inStack(i int) bool { return i >= stackLow/chunk && i < stackHigh/chunk }

// takeImage copies mem; chunks that base holds too are shared with it.
func takeImage(mem []byte, base *image) *image {
	im := &image{size: uint32(len(mem)), pages: make([][]byte, len(mem)/chunk)}
	for i := range im.pages {
		p := mem[i*chunk : (i+1)*chunk]
		switch {
		case inStack(i):
		case base != nil && base.same(i, p):
			im.pages[i] = base.page(i)
		case !bytes.Equal(p, zeroes[:]):
			im.pages[i] = bytes.Clone(p)
		}
	}
	return im
}

func (im *image) page(i int) []byte {
	if i < len(im.pages) {
		return im.pages[i]
	}
	return nil
}

func (im *image) same(i int, p []byte) bool {
	if b := im.page(i); b != nil {
		return bytes.Equal(b, p)
	}
	return bytes.Equal(p, zeroes[:])
}

// write makes mem equal to the image, except for the C stack. It looks before
// it writes: a body that was used before is mostly right already, and a page
// that is only read stays shared. A new module's memory is zero beyond its data
// and need not even be looked at.
func (im *image) write(mem []byte, isNew bool) {
	for i, page := range im.pages {
		at, zero := mem[i*chunk:(i+1)*chunk], isNew && i >= stackHigh/chunk
		switch {
		case inStack(i), zero && page == nil:
		case page == nil:
			if !bytes.Equal(at, zeroes[:]) {
				clear(at)
			}
		case zero || !bytes.Equal(at, page):
			copy(at, page)
		}
	}
}

func (im *image) sum() [sha256.Size]byte {
	h := sha256.New()
	for _, p := range im.pages {
		if p == nil {
			p = zeroes[:]
		}
		h.Write(p)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// images keeps the prepared catalogues that were used last.
type images struct {
	max   int
	order *list.List // of *catalogued, the latest first
	byKey map[[sha256.Size]byte]*list.Element
}

type catalogued struct {
	key [sha256.Size]byte
	im  *image
}

func newImages(n int) *images {
	return &images{max: n, order: list.New(), byKey: map[[sha256.Size]byte]*list.Element{}}
}

func (c *images) get(key [sha256.Size]byte) *image {
	el := c.byKey[key]
	if el == nil {
		return nil
	}
	c.order.MoveToFront(el)
	return el.Value.(*catalogued).im
}

func (c *images) put(key [sha256.Size]byte, im *image) {
	if c.byKey[key] != nil {
		return
	}
	c.byKey[key] = c.order.PushFront(&catalogued{key, im})
	for c.order.Len() > c.max {
		last := c.order.Back()
		c.order.Remove(last)
		delete(c.byKey, last.Value.(*catalogued).key)
	}
}

// key names a catalogue; it is asked for with every cell.
func (c Catalog) key() [sha256.Size]byte {
	h := sha256.New()
	write := func(s string) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		io.WriteString(h, s)
	}
	write(string(c.Tools))
	for _, name := range slices.Sorted(maps.Keys(c.Shortcuts)) {
		write(name)
		write(c.Shortcuts[name])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// text is what the prelude is told of a catalogue.
func (c Catalog) text() (string, error) {
	tools, shortcuts := c.Tools, c.Shortcuts
	if len(tools) == 0 {
		tools = json.RawMessage("[]")
	}
	if shortcuts == nil {
		shortcuts = map[string]string{}
	}
	if t := bytes.TrimLeft(tools, " \t\r\n"); len(t) == 0 || t[0] != '[' {
		return "", failed(InvalidInput, "the catalogue of tools is not a list")
	}
	b, err := json.Marshal(struct {
		Tools     json.RawMessage   `json:"tools"`
		Shortcuts map[string]string `json:"shortcuts"`
	}{tools, shortcuts})
	if err != nil {
		return "", failed(InvalidInput, "the catalogue of tools is not JSON: %v", err)
	}
	return string(b), nil
}

// imageFor gives the image of a catalogue, and makes it at its first use.
func (e *Engine) imageFor(ctx context.Context, m *machine, c Catalog) (*image, error) {
	key := c.key()
	e.mu.Lock()
	im := m.images.get(key)
	e.mu.Unlock()
	if im != nil {
		return im, nil
	}
	text, err := c.text()
	if err != nil {
		return nil, err
	}
	v, err := e.instance(ctx, m, m.boot, Limits{Timeout: DefaultTimeout}.filled())
	if err != nil {
		return nil, err
	}
	defer v.Close()
	v.booting = true
	ctx, leave := v.enter(ctx)
	defer leave()
	if err := v.invoke(ctx, m.root.catalogue, text); err != nil {
		return nil, v.fate(fmt.Errorf("the catalogue: %w", err))
	}
	im = takeImage(v.bytes(), m.boot)
	e.mu.Lock()
	m.images.put(key, im)
	e.mu.Unlock()
	return im, nil
}
