// Package client is an account on a Matrix homeserver. It owns the login, what events
// mean, and the keys of encrypted rooms, which it keeps in the gateway's store;
// settings and limits are package matrix's, and the library talks and encrypts. A
// message counts as sent when the server has given it an id; its number of the
// transaction is the same for every attempt, so that the server takes it once. How
// far the account was read is kept after everything before was taken.
//
// The library chooses its pure Go encryption by the build tag goolm; without it this
// package is empty, and hearth-channels has no Matrix.
package client
