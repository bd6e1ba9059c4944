package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// ErrStale means that the file changed since the caller read it. Nothing was
// written; read again and repeat the edit.
var ErrStale = errors.New("the settings were changed by somebody else in the meantime; read them again and repeat your change")

// ErrBusy means that another process holds the file for an edit.
var ErrBusy = errors.New("another program is just changing the settings; try again")

// InvalidError means that the edited file would not be valid. Nothing was
// written. Line numbers are those of the edited text.
type InvalidError struct{ Issues []Issue }

func (e *InvalidError) Error() string { return "the settings were not saved: " + e.Reason() }

// Reason is what is wrong, without saying that nothing was saved.
func (e *InvalidError) Reason() string {
	s := e.Issues[0].String()
	if n := len(e.Issues) - 1; n > 0 {
		s += fmt.Sprintf(" (and %d more)", n)
	}
	return s
}

// BrokenError means that the file on disk has an error in it, so that single
// values cannot be changed. Nothing was written.
type BrokenError struct {
	Path  string
	Issue Issue
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("the settings file %s has an error and was not changed: %s. Correct it first, then repeat your change", e.Path, e.Issue)
}

// RefusedError means that a part of the gateway cannot work with the new
// settings. Nothing was written.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return "the settings were not saved: " + e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// Set replaces the whole text. baseHash is the Hash of the snapshot that the
// text was made from; it may be empty only while there is no file. Markers of
// hidden values get their stored secrets back.
func (f *File) Set(ctx context.Context, baseHash, raw string) (*Snapshot, error) {
	return f.modify(ctx, nil, func(c content) (string, error) {
		if baseHash != c.hash() && (c.exists || baseHash != "") {
			return "", ErrStale
		}
		next, err := parseObject(raw)
		if err != nil {
			return "", &InvalidError{[]Issue{issueOf(err)}}
		}
		stored, err := parseObject(c.raw)
		if err != nil { // nothing can be restored from a broken file
			stored = emptyDocument()
		}
		return restore(next, stored)
	})
}

// MergePatch applies a JSON merge patch (RFC 7396, JSON5 allowed): null removes
// a key. Everything else in the text stays as it is. An empty baseHash means
// the file as it is now.
func (f *File) MergePatch(ctx context.Context, baseHash, patch string) (*Snapshot, error) {
	p, err := parseObject(patch)
	if err != nil {
		return nil, &InvalidError{[]Issue{issueOf(err)}}
	}
	return f.modify(ctx, p.root, func(c content) (string, error) {
		if baseHash != "" && baseHash != c.hash() {
			return "", ErrStale
		}
		return f.splice(c, func(doc *document) ([]op, error) {
			return mergeOps(doc.root, p.root, nil), nil
		})
	})
}

// SetPath sets one value, written as JSON5 (see Literal).
func (f *File) SetPath(ctx context.Context, path, value string) (*Snapshot, error) {
	p, err := ParsePath(path)
	if err != nil {
		return nil, err
	}
	v, err := parse(value)
	if err != nil {
		return nil, fmt.Errorf("the value for %s is not valid: %w", p, err)
	}
	return f.modify(ctx, nil, func(c content) (string, error) {
		return f.splice(c, func(*document) ([]op, error) { return []op{{p, v.root}}, nil })
	})
}

// UnsetPath removes one key, so that its default holds.
func (f *File) UnsetPath(ctx context.Context, path string) (*Snapshot, error) {
	p, err := ParsePath(path)
	if err != nil {
		return nil, err
	}
	return f.modify(ctx, nil, func(c content) (string, error) {
		return f.splice(c, func(*document) ([]op, error) { return []op{{p, nil}}, nil })
	})
}

// Literal makes JSON5 of what a person typed: text that is not JSON5 by itself
// becomes a string, so that `config set agents.defaults.model ollama/llama3.2`
// needs no quotation marks.
func Literal(typed string) string {
	if _, err := parse(typed); err == nil {
		return typed
	}
	return quote(typed)
}

// newFile is what an edit starts from when there is no file.
const newFile = "// Settings of Hearth. Comments are kept. Every key: docs/configuration.md\n{\n}\n"

func emptyDocument() *document {
	return &document{src: "{}", root: &node{kind: kindObject, start: 0, end: 2}}
}

// splice applies single changes to the text on disk.
func (f *File) splice(c content, ops func(*document) ([]op, error)) (string, error) {
	src := c.raw
	if !c.exists {
		if f.Snapshot().Origin != FromDefaults { // deleted while we run: do not start over silently
			return "", &BrokenError{f.path, Issue{Message: f.goneMessage()}}
		}
		src = newFile
	}
	doc, err := parseObject(src)
	if err != nil {
		return "", &BrokenError{f.path, issueOf(err)}
	}
	list, err := ops(doc)
	if err != nil {
		return "", err
	}
	text, err := edited(src, list)
	if err != nil {
		return "", err
	}
	if !c.exists && text == newFile {
		return c.raw, nil // nothing was changed: make no file
	}
	next, err := parseObject(text)
	if err != nil {
		return "", fmt.Errorf("change the settings: %w", err)
	}
	return restore(next, doc)
}

// modify runs one edit: read, change, check, ask the subscribers, write, tell
// the subscribers. A hand edit that happens meanwhile wins: ErrStale. patch is what
// single values were patched with, nil for other edits.
func (f *File) modify(ctx context.Context, patch *node, change func(content) (string, error)) (*Snapshot, error) {
	done, err := f.take(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	unlock, err := f.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	c, err := readFile(f.path)
	if err == nil {
		err = c.err
	}
	if err != nil {
		return nil, err
	}
	raw, err := change(c)
	if err != nil {
		return nil, err
	}
	old := f.Snapshot()
	if raw == c.raw && (!c.exists || c.hash() == old.Hash && old.Valid) {
		return old, nil
	}
	next := f.judge(content{raw: raw, exists: true})
	if !next.Valid && !next.mends(old) {
		return nil, &InvalidError{next.told(old, patch)}
	}
	if wrong := next.doubts(old, patch); len(wrong) > 0 {
		return nil, &InvalidError{wrong}
	}
	if err := f.verify(old.Config, next.Config); err != nil {
		return nil, &RefusedError{err}
	}
	if err := f.write(c, raw); err != nil {
		return nil, err
	}
	if next.Valid {
		f.keepGood(raw)
	}
	f.sweep()
	f.snap.Store(next)
	f.commit(old.Config, next.Config)
	f.report(next)
	return next, nil
}

// write puts the text in place unless the file is no longer what was edited.
func (f *File) write(base content, raw string) error {
	if raw == base.raw && base.exists {
		return nil
	}
	err := statedir.ReplaceFile(target(f.path), []byte(raw), func() error {
		now, err := readFile(f.path)
		if err != nil {
			return err
		}
		if now.exists != base.exists || now.raw != base.raw || now.err != nil {
			return ErrStale
		}
		return nil
	})
	if errors.Is(err, ErrStale) {
		return ErrStale
	}
	if err != nil {
		return &SaveError{f.path, err}
	}
	return nil
}

// sweep removes what writes that were killed left behind: they may hold
// secrets. Fresh ones can belong to a write of another process.
func (f *File) sweep() {
	for _, p := range []string{target(f.path), f.opts.LastGoodPath} {
		left, err := filepath.Glob(filepath.Join(filepath.Dir(p), "."+filepath.Base(p)+".*"))
		if err != nil {
			continue // a folder with [ in its name: nothing is swept
		}
		for _, name := range left {
			suffix := name[len(filepath.Dir(p))+len(filepath.Base(p))+3:]
			info, err := os.Lstat(name)
			if err == nil && digits(suffix) && info.Mode().IsRegular() && f.opts.Now().Sub(info.ModTime()) > 10*time.Minute {
				_ = os.Remove(name)
			}
		}
	}
}

// lock keeps other processes that edit through this package out.
func (f *File) lock(ctx context.Context) (unlock func(), err error) {
	dir := filepath.Dir(target(f.path))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the settings file: %w", err)
	}
	deadline := time.NewTimer(f.opts.Patience)
	defer deadline.Stop()
	retry := time.NewTicker(5 * time.Millisecond)
	defer retry.Stop()
	for {
		unlock, busy, err := tryLock(dir)
		if err != nil {
			return nil, fmt.Errorf("lock the settings file: %w", err)
		}
		if !busy {
			return unlock, nil
		}
		select {
		case <-retry.C:
		case <-deadline.C:
			return nil, ErrBusy
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
