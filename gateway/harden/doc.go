// Package harden keeps what the process of a gateway holds from others of this
// machine. What lies in files is package statedir's.
package harden
