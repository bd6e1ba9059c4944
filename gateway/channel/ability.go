package channel

// Ability is one of the optional interfaces by name, as a program says which it has.
type Ability string

// The abilities.
const (
	CanEdit     Ability = "edit"    // Editor
	CanDelete   Ability = "delete"  // Deleter
	CanType     Ability = "typing"  // Typer
	CanReact    Ability = "react"   // Reactor
	CanFetch    Ability = "fetch"   // Fetcher
	CanChoose   Ability = "choices" // Chooser
	CanPoll     Ability = "poll"    // Poller
	CanPin      Ability = "pin"     // Pinner
	CanRead     Ability = "read"    // Reader
	CanSearch   Ability = "search"  // Searcher
	CanBeCalled Ability = "http"    // Called
	CanMenu     Ability = "menu"    // Menu
	CanFinish   Ability = "finish"  // Finisher
	CanLogOut   Ability = "logout"  // LogOuter
)

// Abilities are all of them.
func Abilities() []Ability {
	return []Ability{CanEdit, CanDelete, CanType, CanReact, CanFetch, CanChoose, CanPoll, CanPin, CanRead, CanSearch, CanMenu,
		CanFinish, CanBeCalled, CanLogOut}
}

// Writing are those of a network that does what all about messages asks for, and no more.
func Writing() []Ability { return []Ability{CanEdit, CanDelete, CanType, CanReact, CanFetch} }

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

// AsChooser is a channel that shows buttons, if it does.
func AsChooser(c Channel) (Chooser, bool) { return as[Chooser](c, CanChoose) }

// AsPoller is a channel that makes polls, if it does.
func AsPoller(c Channel) (Poller, bool) { return as[Poller](c, CanPoll) }

// AsPinner is a channel that pins messages, if it does.
func AsPinner(c Channel) (Pinner, bool) { return as[Pinner](c, CanPin) }

// AsReader is a channel that reads what was said before, if it does.
func AsReader(c Channel) (Reader, bool) { return as[Reader](c, CanRead) }

// AsSearcher is a channel that looks for words in all that was said, if it does.
func AsSearcher(c Channel) (Searcher, bool) { return as[Searcher](c, CanSearch) }

// AsCalled is a channel that its network calls, if it does.
func AsCalled(c Channel) (Called, bool) { return as[Called](c, CanBeCalled) }

// AsMenu is a channel that shows commands in a menu, if it does.
func AsMenu(c Channel) (Menu, bool) { return as[Menu](c, CanMenu) }

// AsFinisher is a channel that is told of the last edit of an answer, if it wants to be.
func AsFinisher(c Channel) (Finisher, bool) { return as[Finisher](c, CanFinish) }

// AsLogOuter is a channel that ends its login at the network, if it does.
func AsLogOuter(c Channel) (LogOuter, bool) { return as[LogOuter](c, CanLogOut) }

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
	_, has[CanChoose] = AsChooser(c)
	_, has[CanPoll] = AsPoller(c)
	_, has[CanPin] = AsPinner(c)
	_, has[CanRead] = AsReader(c)
	_, has[CanSearch] = AsSearcher(c)
	_, has[CanBeCalled] = AsCalled(c)
	_, has[CanMenu] = AsMenu(c)
	_, has[CanFinish] = AsFinisher(c)
	_, has[CanLogOut] = AsLogOuter(c)
	for _, a := range Abilities() {
		if has[a] {
			out = append(out, a)
		}
	}
	return out
}
