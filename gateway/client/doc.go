// Package client speaks the gateway's protocol from Go: the command line, the
// terminal chat, the tray and the tests all reach the gateway through it.
//
// Start with Open, which finds the gateway of a state folder on this machine,
// or with Dial when the address is known. Both return a Client: one connection
// that ends once. A Link is a connection that is made again when it is lost,
// for calls that are safe to repeat.
//
// The package decides nothing about what is shown to a person and keeps no
// state of a conversation; it never sends a credential in plaintext off this
// machine.
package client
