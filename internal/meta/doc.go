// Package meta holds the tests that keep the house in order: who may import
// whom, how large files and functions may grow, and which short cuts are not
// taken anywhere. It has no code of its own, and it does not replace go vet or
// staticcheck: it checks what only this repository knows about itself.
package meta
