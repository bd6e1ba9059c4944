// Package imports says what other assistants leave behind, in one form for all of
// them: chats, memory, files, skills, jobs, servers of tools, keys, people,
// settings. The packages beside it read the formats of the programs (openclaw,
// hermes, claudedesktop, chatgpt, claude) and hand over one Item after the other;
// package source opens what they read, within limits.
//
// Nothing here writes, and nothing knows Hearth's store: what is new, what becomes
// of an item, and that it is taken once is package feature/imports'. What stands in
// an item are strangers' words: it is data wherever it goes.
package imports

import (
	"iter"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Kind is what an item is.
type Kind string

// The kinds, in the order in which people read of them.
const (
	Chats    Kind = "chat"
	Memory   Kind = "memory"
	Files    Kind = "file"
	Skills   Kind = "skill"
	Jobs     Kind = "job"
	Servers  Kind = "server"
	Keys     Kind = "key"
	People   Kind = "person"
	Settings Kind = "setting"
	Other    Kind = "other" // what nothing is made of
)

// Kinds are all of them, in their order.
func Kinds() []Kind {
	return []Kind{Settings, Keys, People, Files, Memory, Skills, Servers, Jobs, Chats, Other}
}

// Item is one thing that another program left. The field of its kind is set, or
// Why.
type Item struct {
	Kind Kind
	ID   string // its name there: the same whenever it is read
	Name string // for people
	Why  string // it cannot be taken; "" when it can
	Many int    // with Why: how many things are meant, 0 for one

	Chat     *Chat
	File     *File
	Skill    *Skill
	Job      *protocol.CronSpec
	Server   *Server
	Key      *Key
	Person   *Person
	Settings *Text
}

// Give takes an item over. Its error ends the reading.
type Give func(Item) error

// Left is an item that is told and not taken.
func Left(kind Kind, name, why string, many int) Item {
	return Item{Kind: kind, ID: name, Name: name, Why: why, Many: many}
}

// Chat is a conversation.
type Chat struct {
	Agent     string // whose it was, "" for the only one
	Title     string
	CreatedAt int64 // ms, 0: not known
	Archived  bool
	Messages  iter.Seq2[Message, error] // in order; may be read once
}

// Message is one of a conversation, with its name there.
type Message struct {
	ID     string
	Unread bool // it stands for what could not be read, and is nobody's
	protocol.Message
}

// File is one of a workspace. Memory files are Files of the kind Memory.
type File struct {
	Agent string
	Path  string // below the workspace, with slashes
	Data  []byte
}

// Skill is a folder with a SKILL.md.
type Skill struct {
	Files map[string][]byte // by their paths in it
	Where string            // for people
}

// Server is one of tools, as the settings have it.
type Server struct {
	Settings map[string]any
}

// Key is one of a model service, or what stands in a variable that may be one's.
type Key struct {
	Provider string
	Variable string // where it stood; then Provider is "", and its name tells whose it is
	Account  string // its name there
	Secret   string // never shown
	Token    bool   // not a key but a bearer token
}

// Person is somebody who was let in on a messaging network.
type Person struct{ Channel, Account, ID, Name string }

// Text is a whole file of settings, JSON5, and the variables that it refers to.
type Text struct {
	Raw string
	Env map[string]string
}
