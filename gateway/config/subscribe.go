package config

import (
	"errors"
	"slices"
	"time"
)

// subscriber is told about new settings twice: verify may refuse, commit must
// apply.
type subscriber struct {
	verify func(old, next Config) error
	commit func(old, next Config)
}

// Subscribe registers for changes; either func may be nil. Both are called one
// change at a time and must return soon; one that does not counts as a refusal
// (verify) or is left behind (commit). They must not edit the file themselves.
func (f *File) Subscribe(verify func(old, next Config) error, commit func(old, next Config)) (cancel func()) {
	s := &subscriber{verify, commit}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subs = append(f.subs, s)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.subs = slices.DeleteFunc(f.subs, func(o *subscriber) bool { return o == s })
	}
}

// Follow has told called with every new snapshot, also one whose settings are
// refused and not in use. It must return soon.
func (f *File) Follow(told func(*Snapshot)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.followers = append(f.followers, told)
}

func (f *File) subscribers() []*subscriber {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.subs)
}

var errStuck = errors.New("a part of the gateway did not answer in time; try again, and restart the gateway if it stays so")

func (f *File) verify(old, next Config) error {
	for _, s := range f.subscribers() {
		if s.verify == nil {
			continue
		}
		answer := make(chan error, 1)
		if !f.within(func() { answer <- s.verify(old, next) }) {
			return errStuck
		}
		if err := <-answer; err != nil {
			return err
		}
	}
	return nil
}

func (f *File) commit(old, next Config) {
	for _, s := range f.subscribers() {
		if s.commit != nil && !f.within(func() { s.commit(old, next) }) {
			f.opts.Logger.Error("config: " + errStuck.Error())
		}
	}
}

// within runs call and waits for it, but not for ever.
func (f *File) within(call func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	t := time.NewTimer(f.opts.Patience)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}
