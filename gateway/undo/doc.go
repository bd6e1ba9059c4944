// Package undo keeps what tools take away, and gives it back.
package undo
