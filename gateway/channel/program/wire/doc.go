// Package wire is how the gateway and a channel that is a program of its own talk:
// JSON-RPC 2.0, one message a line, over the program's standard input and output.
// It owns the shapes of the requests, what their errors mean, and the limits of a
// line. What the gateway makes of them is package program's business, and what a
// program does is serve's. docs/channels/write-your-own.md says it for writers in
// any language.
package wire

// Version is that of the protocol. A program that speaks another one says so in
// its answer to initialize.
const Version = 1

// MaxLine is the longest line that either side takes, in bytes.
const MaxLine = 4 << 20

// Requests of the gateway.
const (
	Initialize = "initialize" // InitializeParams → InitializeResult
	Start      = "start"      // {} → {}: begin to receive
	Stop       = "stop"       // {} → {}: end receiving; the input is closed next
	Send       = "send"       // SendParams → SendResult
	Edit       = "edit"       // EditParams → {}
	Delete     = "delete"     // MessageParams → {}
	Typing     = "typing"     // TargetParams → {}
	React      = "react"      // ReactParams → {}
	Fetch      = "fetch"      // Media → FetchResult
	HTTP       = "http"       // HTTPParams → HTTPResult: the network calls the gateway
	Ping       = "ping"       // {} → {}
	Settle     = "settle"     // EditParams → {}: the buttons of a message go, and it reads so
	Answer     = "answer"     // AnswerParams → {}: words for whoever pressed a button
	Login      = "login"      // {} → AskParams: a person wants to log the account in
	Confirm    = "confirm"    // ConfirmParams → {}: the person has answered what an ask shows
	Poll       = "poll"       // PollParams → SendResult
	Pin        = "pin"        // PinParams → {}
	Read       = "read"       // ReadParams → ReadResult
	Search     = "search"     // SearchParams → ReadResult
	LogOut     = "logout"     // {} → {}: the login at the network ends, and what was kept of it goes
	Menu       = "menu"       // MenuParams → {}: the commands of a menu, instead of those before
)

// Requests and notes of the program.
const (
	Inbound  = "inbound"   // InboundParams → {}: answered when it was durably accepted
	Status   = "status"    // a note: StatusParams
	Ask      = "ask"       // a note: AskParams; the newest is shown
	Stopped  = "stopped"   // a note: StoppedParams; receiving has ended and cannot go on
	StateGet = "state.get" // StateKey → StateValue
	StatePut = "state.put" // StateValue → {}: answered when it is on disk
)

// Requests of who tries a program, which only one answers that offered its test
// network in its answer to initialize.
const (
	TestScript   = "test.script"   // TestFaults → {}
	TestReceive  = "test.receive"  // TestArrived → {}: somebody writes to us
	TestTaken    = "test.taken"    // MessageParams → TestTakenResult
	TestMessages = "test.messages" // {} → TestSeen
)
