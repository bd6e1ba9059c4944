package channel

// Ability is one of the optional interfaces by name, as a program says which it has.
type Ability string

// The abilities.
const (
	CanEdit   Ability = "edit"   // Editor
	CanDelete Ability = "delete" // Deleter
	CanType   Ability = "typing" // Typer
	CanReact  Ability = "react"  // Reactor
	CanFetch  Ability = "fetch"  // Fetcher
)

// Abilities are all of them.
func Abilities() []Ability { return []Ability{CanEdit, CanDelete, CanType, CanReact, CanFetch} }

// Standing is a channel that stands for another one, as that of a program does: its
// type has every ability, and Can says which of them the other has.
type Standing interface {
	Can(a Ability) bool
}

// AsEditor is a channel that edits messages, if it does.
func AsEditor(c Channel) (Editor, bool) { return as[Editor](c, CanEdit) }

// AsDeleter is a channel that deletes messages, if it does.
func AsDeleter(c Channel) (Deleter, bool) { return as[Deleter](c, CanDelete) }

// AsTyper is a channel that shows “is typing”, if it does.
func AsTyper(c Channel) (Typer, bool) { return as[Typer](c, CanType) }

// AsReactor is a channel that puts emoji on messages, if it does.
func AsReactor(c Channel) (Reactor, bool) { return as[Reactor](c, CanReact) }

// AsFetcher is a channel that brings the files of its messages, if it does.
func AsFetcher(c Channel) (Fetcher, bool) { return as[Fetcher](c, CanFetch) }

func as[T any](c Channel, a Ability) (able T, ok bool) {
	if s, standing := c.(Standing); standing && !s.Can(a) {
		return able, false
	}
	able, ok = c.(T)
	return able, ok
}

// AbilitiesOf are those that a channel has.
func AbilitiesOf(c Channel) (out []Ability) {
	has := map[Ability]bool{}
	_, has[CanEdit] = AsEditor(c)
	_, has[CanDelete] = AsDeleter(c)
	_, has[CanType] = AsTyper(c)
	_, has[CanReact] = AsReactor(c)
	_, has[CanFetch] = AsFetcher(c)
	for _, a := range Abilities() {
		if has[a] {
			out = append(out, a)
		}
	}
	return out
}
