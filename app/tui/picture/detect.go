package picture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Means is how pictures are shown.
type Means string

// The means, and Auto: what the terminal is found to know.
const (
	Auto   Means = "auto"
	Kitty  Means = "kitty"  // kitty's protocol, with Unicode placeholders
	ITerm  Means = "iterm"  // iTerm2's inline images
	Sixel  Means = "sixel"  // DEC's
	Blocks Means = "blocks" // half blocks in two colours
	Off    Means = "off"    // by name
	// Placed is kitty's protocol without placeholders, for terminals and older kittys
	// that do not know them. Nobody chooses it by name: it is kitty's.
	Placed Means = "placed"
)

// Names are what a person may choose.
func Names() []string {
	return []string{string(Auto), string(Kitty), string(ITerm), string(Sixel), string(Blocks), string(Off)}
}

// Known reports whether there are such means.
func Known(name string) bool { return slices.Contains(Names(), name) }

// Raw reports whether pictures are drawn over the cells, and not by them.
func (m Means) Raw() bool { return m == ITerm || m == Sixel || m == Placed }

// Outer is the terminal that tmux is shown in.
type Outer struct {
	Version     string // as XTVERSION names it
	Sixel       bool
	Passthrough bool // tmux hands sequences on
}

// Surroundings are what is known before the terminal is asked.
type Surroundings struct {
	Term, Program, Screen string // TERM; TERM_PROGRAM or LC_TERMINAL; STY
	InTmux                bool
	Outer                 Outer // of tmux
	TrueColour, NoColour  bool
}

// Look reads the surroundings of an environment.
func Look(environ []string) Surroundings {
	get := func(name string) (value string) {
		for _, e := range environ {
			if v, ok := strings.CutPrefix(e, name+"="); ok {
				value = v
			}
		}
		return value
	}
	s := Surroundings{Term: get("TERM"), Program: get("TERM_PROGRAM"), Screen: get("STY")}
	s.InTmux = get("TMUX") != "" || strings.HasPrefix(s.Term, "tmux")
	if s.Screen == "" && !s.InTmux && strings.HasPrefix(s.Term, "screen") { // by ssh from inside of it
		s.Screen = s.Term
	}
	// iTerm2 says this over ssh too, where TERM_PROGRAM does not go.
	if lc := get("LC_TERMINAL"); lc != "" && (s.Program == "" || s.Program == "tmux") {
		s.Program = lc
	}
	return s
}

// Answers are what the terminal said.
type Answers struct {
	Version string // XTVERSION
	Kitty   bool   // it knows kitty's protocol
	Sixel   bool   // the attribute 4 of DA1
	Cell    Size   // in pixels; zero where it does not say
}

// mute terminals write what they do not understand on the screen, or hang it
// into a title: they are asked nothing beyond their attributes.
func (s Surroundings) mute() bool {
	return s.InTmux || s.Screen != "" || s.Term == "linux" || s.Program == "Apple_Terminal"
}

// Question asks the terminal. Its answer to the last part, which every terminal
// knows, is the end.
func (s Surroundings) Question() string {
	q := ansi.RequestNameVersion + CellQuestion + ansi.RequestPrimaryDeviceAttributes
	if s.mute() {
		return CellQuestion + ansi.RequestPrimaryDeviceAttributes
	}
	return ansi.KittyGraphics([]byte("AAAA"), "i=31", "s=1", "v=1", "a=q", "t=d", "f=24") + q
}

// CellQuestion asks for the size of a cell and of the window in pixels.
const CellQuestion = "\x1b[16t\x1b[14t"

// MoreColours has a terminal take as many colours in a picture as the encoder
// gives it. xterm takes sixteen unless it is told.
const MoreColours = "\x1b[?1;3;256S"

// placeholders reports terminals that draw pictures where Unicode placeholders
// stand, kitty since 0.28; others that know kitty's protocol leave them blank.
func placeholders(version string) bool {
	v := strings.ToLower(version)
	if strings.HasPrefix(v, "ghostty") {
		return true
	}
	var major, minor int
	if n, _ := fmt.Sscanf(v, "kitty(%d.%d", &major, &minor); n != 2 {
		return false
	}
	return major > 0 || minor >= 28
}

func inline(name string) bool {
	return strings.HasPrefix(name, "iTerm") || strings.HasPrefix(name, "WezTerm")
}

// Choose says how pictures are shown, when a person asked for some means.
func Choose(asked Means, s Surroundings, a Answers) Means {
	switch {
	case asked == Kitty && !s.InTmux && a.Version != "" && !placeholders(a.Version):
		return Placed
	case asked != Auto:
		return asked
	}
	colours := Off
	if s.TrueColour {
		colours = Blocks
	}
	switch {
	case s.NoColour:
		return Off
	case s.InTmux:
		switch {
		case s.Outer.Passthrough && placeholders(s.Outer.Version):
			return Kitty
		case s.Outer.Sixel && a.Sixel && a.Cell.W > 0:
			return Sixel
		}
		return colours
	case s.Screen != "": // it hands on what is short, and no picture is
		return colours
	case a.Kitty && placeholders(a.Version):
		return Kitty
	case inline(a.Version), a.Version == "" && inline(s.Program):
		return ITerm
	case a.Kitty && a.Cell.W > 0:
		return Placed
	case a.Sixel && a.Cell.W > 0: // without the size of a cell nobody knows what a picture covers
		return Sixel
	}
	return colours
}
