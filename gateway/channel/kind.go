package channel

import (
	"context"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// Kind is a messaging network: what it is called, what its accounts are
// configured with, and how one is connected. Every folder below makes one, and
// package networks lists them; nothing else knows a network by name.
type Kind struct {
	ID    string // in keys, routes and settings: small letters, digits and dashes
	Label string // for people

	// Settings are the keys of an account beside those that accounts of every
	// network have. Later and LaterAccount are keys that other gateways know below
	// channels.<id> and below an account, and this one keeps without using them.
	Settings            []Setting
	Later, LaterAccount []string
	// Connects is the key without which an account is not connected.
	Connects string
	// MaxFile is the largest file, in megabytes, that the network lets anybody send
	// or fetch; the default of mediaMaxMb, and why.
	MaxFile    int
	MaxFileWhy string

	// SetUp is what a person does at the network before the settings are asked for, one
	// step each; First says how they write to the account then.
	SetUp []string
	First string
	// Manifest is what the network makes an application of, where it does that.
	Manifest Manifest
	// Called: the network calls the gateway at CallPath, so that has to be reached from
	// outside; CalledAs says where at the network a person writes the address.
	Called   bool
	CalledAs string
	// Own: its program is its person's own and reads what only they may, so that it is
	// started as they would, without a sandbox.
	Own bool
	// Groups is another key that other gateways have for groups, and Directs one whose
	// policy and allowFrom they have for direct messages; "": none.
	Groups, Directs string

	// New makes an account's channel without connecting it; Run does.
	New func(Account) (Channel, error)
	// IsGroup reports whether the id of a conversation is that of a group; nil: none
	// is.
	IsGroup func(conversation string) bool
	// SameID makes of a person's id, however it is written, what ids are compared by;
	// nil: the id itself. The SenderID of messages is written like that.
	SameID func(id string) string
	// Address reads a target as other gateways' clients write it; nil: it is the id of the
	// conversation.
	Address func(target string) (conversation, thread string)
	// Menu is what becomes of commands there.
	Menu MenuTraits
	// LogOut is what a person does to end the login of an account that has none here;
	// "": stopping it is all.
	LogOut string
	// Thread is what a part of a group is called in the keys of sessions; "" is
	// "thread".
	Thread string
	// Streaming is what is seen of an answer while it is written when an account does not
	// say: off, partial, block or progress; "" is partial.
	Streaming string
	// Blocks: answers may be sent in blocks by a default for all networks; without
	// it an account must say so.
	Blocks bool
}

// MenuTraits are what a network does with the commands that it is given (Menu).
type MenuTraits struct {
	Registered bool // they stand in a menu of the network until others take their place
	Most       int  // that the menu shows; 0: any number
	Added      bool // it can show people's own as well
	Dashless   bool // names with a dash stand in no menu
}

// Group reports whether a conversation is a group.
func (k Kind) Group(conversation string) bool { return k.IsGroup != nil && k.IsGroup(conversation) }

// Person is the id by which somebody is compared; see SameID.
func (k Kind) Person(id string) string {
	if k.SameID == nil {
		return id
	}
	return k.SameID(id)
}

// Place is the conversation, and the thread in it, that a target means.
func (k Kind) Place(target string) (conversation, thread string) {
	if k.Address == nil {
		return target, ""
	}
	return k.Address(target)
}

// Addressed reads targets that say what kind of place they are: one of places before the
// id of a conversation, or user: before that of somebody, of whose conversations the ids
// begin with person.
func Addressed(person string, places ...string) func(target string) (conversation, thread string) {
	return func(target string) (string, string) {
		for _, place := range places {
			if id, ok := strings.CutPrefix(target, place); ok && id != "" {
				return id, ""
			}
		}
		if id, ok := strings.CutPrefix(target, "user:"); ok && id != "" {
			return person + strings.TrimPrefix(id, person), ""
		}
		if id, ok := strings.CutPrefix(target, "<@"); ok && strings.HasSuffix(id, ">") {
			return person + strings.Trim(id, "!>"), ""
		}
		return target, ""
	}
}

// Setting is a key of an account that only one network has.
type Setting struct {
	Key  string
	Form SettingForm
	// About says what it is, and Unset what holds without it, in the reference.
	About, Unset string
	// On: a switch is on without the key.
	On bool
	// Stays: a secret that is no login, and that its person may have nowhere else; the end of
	// a login does not take it.
	Stays bool
	// Needed: no account is connected without it, as without Connects.
	Needed bool
	// OneOf: of all settings that say so one is needed, as a password or a token.
	OneOf bool
	// Rare: few have a use for it, so that nobody is asked for it while an account is
	// added by typing; it stands in the reference and on the page.
	Rare bool
	// Valid judges the text of a secret, and of words and each of a list where it
	// is set; Help says what it should look like.
	Valid func(string) bool
	Help  string
	// File is a key that names a file with the secret instead; "": there is none. Long
	// secrets are hardly ever typed, so a person is asked for it.
	File string
	// Shared: other accounts begin with what stands at channels.<id>. Secrets and
	// addresses of one account are nobody else's.
	Shared bool
	// Needs is the key without which this one is dangerous, and NeedsWhy the danger.
	Needs, NeedsWhy string
	// Alone says why two accounts cannot have the same value; "": they can. Of
	// addresses the paths are compared.
	Alone string
}

// SettingForm is what a setting holds.
type SettingForm string

// Forms of settings.
const (
	SecretText    SettingForm = "secret"         // a credential: never shown, may be a reference
	WebAddress    SettingForm = "address"        // of a server
	PublicAddress SettingForm = "public-address" // https, of this gateway, where the network calls
	Words         SettingForm = "words"          // a line of text
	WordList      SettingForm = "list"           // lines; Texts has them with a line end between
	OnOff         SettingForm = "switch"         // Texts has "true" or "false"
	PortNumber    SettingForm = "port"           // Texts has it in digits
)

// Secrets are the keys of settings that hold credentials, in their order.
func (k Kind) Secrets() (keys []string) {
	for _, s := range k.Settings {
		if s.Form == SecretText {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// Account is what a channel is made of.
type Account struct {
	ID      string
	Secrets map[string]string // by the keys of Settings
	Texts   map[string]string // likewise, what is no secret
	MaxFile int64             // the largest file to take or send, in bytes; 0: the network's
	// OpenFile opens a local file that is to be sent; nil: none ever leaves.
	OpenFile func(path string) (fs.File, error)
	Durable  Durable          // what the channel keeps over restarts; nil: nothing
	Launch   Launch           // starts the program of a channel that is one; nil: none can be
	Now      func() time.Time // nil: the system's
	Logger   *slog.Logger     // nil: nowhere
}

// Durable keeps small values of one account in the gateway's store, so that one
// backup holds them. Get returns nil for a key without a value; Put returns when
// the value is on disk.
type Durable interface {
	Get(ctx context.Context, key string) ([]byte, error)
	Put(ctx context.Context, key string, value []byte) error
}

// Launch starts a program with a folder of its own, in a sandbox but for networks whose
// Kind says Own. network and account
// name it in lists and in the log.
type Launch func(ctx context.Context, network, account string, argv []string) (Process, error)

// Process is a started program that is talked to over its input and output.
type Process interface {
	Write(b []byte) error // to its input
	CloseInput() error
	Output() io.ReadCloser
	Stop() // begins to end it and all that it started
	Done() <-chan struct{}
	Words() string  // the last that it said beside its output, and how it ended
	Folder() string // one that it can use too; removed when it has ended
}

// Kinds are the networks there are.
type Kinds []Kind

// Get finds a network by its id.
func (list Kinds) Get(id string) (Kind, bool) {
	i := slices.IndexFunc(list, func(k Kind) bool { return k.ID == id })
	if i < 0 {
		return Kind{}, false
	}
	return list[i], true
}

// Label is what people call a network; an unknown one is called by its id.
func (list Kinds) Label(id string) string {
	if k, ok := list.Get(id); ok {
		return k.Label
	}
	return id
}

// Person is the id by which somebody on a network is compared; see Kind.SameID.
func (list Kinds) Person(network, id string) string {
	k, _ := list.Get(network)
	return k.Person(id)
}

// Own reports whether a network's program is its person's own.
func (list Kinds) Own(id string) bool {
	k, ok := list.Get(id)
	return ok && k.Own
}

// Group reports whether a conversation of a network is a group.
func (list Kinds) Group(id, conversation string) bool {
	k, ok := list.Get(id)
	return ok && k.Group(conversation)
}

// Threads is what parts of groups are called in the keys of sessions, by network.
func (list Kinds) Threads() map[string]string {
	out := make(map[string]string, len(list))
	for _, k := range list {
		if k.Thread != "" {
			out[k.ID] = k.Thread
		}
	}
	return out
}

// State is what an account is doing.
type State string

// States.
const (
	Stopped   State = "stopped"
	Starting  State = "starting"
	Receiving State = "receiving"
	Waiting   State = "waiting"  // something passing went wrong; tried again soon
	Conflict  State = "conflict" // another program receives this account's messages
	Failed    State = "failed"   // Run returned an error
)

// Status is how an account is. It is well when the network answered lately, not
// when a connection is open.
type Status struct {
	State    State
	Since    time.Time
	Bot      string    // its name on the network
	LastPoll time.Time // when the network last answered
	LastTake time.Time // when a message was last accepted
	Problem  string    // for people; "" when all is well
}

// Become is what an account notes of itself: its state since now, and what a person
// should know.
func (s *Status) Become(state State, problem string, now time.Time) {
	if s.State != state {
		s.Since = now
	}
	if state == Receiving {
		s.LastPoll = now
	}
	s.State, s.Problem = state, problem
}
