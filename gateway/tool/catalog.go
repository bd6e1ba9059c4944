package tool

import (
	"log/slog"
	"slices"
)

// Catalog is every tool that there is: those of the program, and those that come
// and go while it runs, such as the tools of MCP servers. It is filled before
// anything is asked, and then safe for concurrent use as far as its sources are.
type Catalog struct {
	own     *Set
	sources []func() []Tool
	log     *slog.Logger
}

// NewCatalog returns a catalogue without tools. hide takes secrets out of what
// its tools say.
func NewCatalog(hide Redactor, log *slog.Logger) *Catalog {
	return &Catalog{own: (&Set{}).Redact(hide), log: log}
}

// Add adds tools that stay; two of one name are refused.
func (c *Catalog) Add(tools ...Tool) error {
	own, err := c.own.With(tools...)
	if err != nil {
		return err
	}
	c.own = own
	return nil
}

// Follow adds what list says at each moment.
func (c *Catalog) Follow(list func() []Tool) { c.sources = append(c.sources, list) }

// Own are the tools that stay.
func (c *Catalog) Own() *Set { return c.own }

// Tools is every tool that there is now.
func (c *Catalog) Tools() *Set {
	var more []Tool
	for _, list := range c.sources {
		more = slices.Concat(more, list())
	}
	set, err := c.own.With(more...)
	if err != nil { // names of servers' tools have a part of their own
		c.log.Error("the tools that come from outside are left out", "err", err)
		return c.own
	}
	return set
}
