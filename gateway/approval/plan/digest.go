package plan

import (
	"crypto/sha256"
	"encoding/binary"
)

// version is in every digest: whoever changes what a plan means changes it, and
// with it every remembered yes is asked for again.
const version = "hearth plan 1"

// digest is over a plan's canonical encoding: every text with its length before
// it, every list with its count, so that no two plans share one.
func (p Plan) digest() [32]byte {
	b := make([]byte, 0, 1024)
	num := func(n uint64) { b = binary.BigEndian.AppendUint64(b, n) }
	text := func(s string) { num(uint64(len(s))); b = append(b, s...) }
	list := func(l []string) {
		num(uint64(len(l)))
		for _, s := range l {
			text(s)
		}
	}
	yes := func(v bool) {
		if v {
			num(1)
		} else {
			num(0)
		}
	}
	text(version)
	text(p.Command)
	text(p.Shell)
	b = append(b, p.shellHash[:]...)
	list(p.Argv)
	yes(p.request.Terminal)
	text(p.Dir)
	num(p.dirID.dev)
	num(p.dirID.ino)
	num(uint64(len(p.Env)))
	for _, e := range p.Env {
		text(e.Name)
		text(e.Value)
	}
	num(uint64(len(p.Programs)))
	for _, pr := range p.Programs {
		list(pr.Argv)
		text(pr.Name)
		text(pr.Path)
		b = append(b, pr.Hash[:]...)
	}
	num(uint64(len(p.Scripts)))
	for _, f := range p.Scripts {
		text(f.Path)
		b = append(b, f.Hash[:]...)
	}
	list(p.Writes)
	yes(p.Known)
	num(uint64(len(p.Doubts)))
	for _, d := range p.Doubts {
		text(d.Code)
		text(d.Words)
	}
	yes(p.Lasting)
	return sha256.Sum256(b)
}
