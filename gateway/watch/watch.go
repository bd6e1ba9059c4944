// Package watch looks at things that change (a folder, a page, a feed, a mailbox)
// and says what has changed since the last look: each change once, also over
// restarts. The first look is what later ones are compared with, and says nothing.
// A look costs no model.
//
// The package does not know what is looked at (a Source; the packages below have
// one each), nor what is done about a change: that is handed in.
package watch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Limits of a look.
const (
	MaxItems = 20_000   // of what is there
	MaxText  = 8 << 10  // of one change
	maxSeen  = 25_000   // of what is remembered, gone things too
	maxState = 64 << 10 // of what a source keeps for itself
	maxTold  = 200      // changes of one look that are told each by itself
	maxID    = 1 << 10  // of an item's id
	maxTitle = 300      // of an item's title
	maxLink  = 2 << 10  // of an item's address
	maxBusy  = time.Minute
	lookTime = time.Minute
)

// Source is one thing that is looked at.
type Source interface {
	// Look says what is there. kept is what the last look left for this one, nil
	// for the first.
	Look(ctx context.Context, kept json.RawMessage) (Found, error)
}

// Noticer is a source that hears of changes by itself. Notices calls wake for
// each, until ctx ends or nothing will be heard any more.
type Noticer interface {
	Notices(ctx context.Context, wake func()) error
}

// Found is what a look has found.
type Found struct {
	Same  bool            // nothing has changed; the rest does not count
	Items []Item          // in the order in which they are told
	Whole bool            // there is nothing else: what was there and is missing is gone
	Anew  bool            // it cannot be compared with what was seen: a first look again
	Kept  json.RawMessage // for the next look
	Again time.Duration   // look again so soon; 0: when it is due
	Count int             // how many there are, where Items are not all
}

// Item is something that is there. Its words are from outside.
type Item struct {
	ID      string // names it for good
	Version string // another one: it has changed
	Title   string
	Text    string
	Link    string
	Busy    bool // it is changing just now; it is told when that is over
	Quiet   bool // when it is gone, nobody is told
}

// Change is an item that is new, has changed or is gone.
type Change struct {
	What  What
	ID    string
	Title string
	Text  string
	Link  string
}

// What has become of an item.
type What string

// What may become of an item.
const (
	Added   What = "new"
	Changed What = "changed"
	Gone    What = "gone"
)

// Seen is what was seen of one watch.
type Seen struct {
	Rev   int64           `json:"rev"`             // of the watch that it belongs to
	Kept  json.RawMessage `json:"kept,omitempty"`  // the source's own
	Items map[string]Mark `json:"items,omitempty"` // by id
	Fails int             `json:"fails,omitempty"` // looks in a row
	Told  bool            `json:"told,omitempty"`  // that it cannot be looked at
	First bool            `json:"first,omitempty"` // there was a first look
}

// Mark is what was seen of an item.
type Mark struct {
	V     string `json:"v"`
	Title string `json:"t,omitempty"`     // where it is not the id: it is told when it is gone
	At    int64  `json:"at,omitempty"`    // when it was there last, of one that is gone
	Busy  int64  `json:"busy,omitempty"`  // since when it has been changing
	New   bool   `json:"new,omitempty"`   // it was not told yet
	Quiet bool   `json:"quiet,omitempty"` // when it is gone, nobody is told
}

// Compare says what has changed since the last look, and what is seen now. Of the
// first look nothing is told.
func Compare(seen Seen, found Found, now time.Time) (changes []Change, next Seen) {
	next = seen
	if found.Same && seen.First {
		return nil, next
	}
	first := !seen.First || found.Anew
	next.Items, next.First = maps.Clone(seen.Items), true
	if next.Items == nil || first {
		next.Items = map[string]Mark{}
	}
	if len(found.Kept) <= maxState {
		next.Kept = found.Kept
	}
	there := map[string]bool{}
	for _, it := range found.Items[:min(len(found.Items), MaxItems)] {
		id := cut(it.ID, maxID)
		if id == "" || there[id] {
			continue
		}
		there[id] = true
		it.Busy = it.Busy && !first
		was, known := next.Items[id]
		mark, what := judge(was, known, it, now.UnixMilli())
		if mark.Quiet = it.Quiet; found.Whole && it.Title != it.ID {
			mark.Title = cut(it.Title, maxTitle)
		}
		if next.Items[id] = mark; what != "" && !first {
			changes = append(changes, Change{
				What: what, ID: id, Title: cut(it.Title, maxTitle), Text: cut(it.Text, MaxText), Link: cut(it.Link, maxLink),
			})
		}
	}
	if found.Whole {
		changes = append(changes, gone(next.Items, there)...)
	}
	forget(next.Items, there, now.UnixMilli())
	return few(changes), next
}

// judge says what an item is now, and what is told of it, "" for nothing.
func judge(was Mark, known bool, it Item, now int64) (Mark, What) {
	fresh := !known || was.New
	if it.Busy {
		since := cmp.Or(was.Busy, now)
		if now-since < maxBusy.Milliseconds() {
			return Mark{V: was.V, Busy: since, New: fresh}, ""
		}
	}
	switch {
	case fresh:
		return Mark{V: it.Version}, Added
	case was.V != it.Version:
		return Mark{V: it.Version}, Changed
	}
	return Mark{V: was.V}, ""
}

// gone takes note of what is not there any more.
func gone(items map[string]Mark, there map[string]bool) (changes []Change) {
	for _, id := range slices.Sorted(maps.Keys(items)) {
		m := items[id]
		if there[id] {
			continue
		}
		if delete(items, id); !m.New && !m.Quiet {
			changes = append(changes, Change{What: Gone, ID: id, Title: cut(cmp.Or(m.Title, id), maxTitle)})
		}
	}
	return changes
}

// forget keeps what is remembered bounded: what was not there for the longest goes
// first.
func forget(items map[string]Mark, there map[string]bool, now int64) {
	for id, m := range items {
		if there[id] {
			m.At = 0
		} else if m.At == 0 {
			m.At = now
		}
		items[id] = m
	}
	if len(items) <= maxSeen {
		return
	}
	var old []string
	for id := range items {
		if !there[id] {
			old = append(old, id)
		}
	}
	slices.SortFunc(old, func(a, b string) int { return cmp.Or(cmp.Compare(items[a].At, items[b].At), cmp.Compare(a, b)) })
	for _, id := range old[:min(len(old), len(items)-maxSeen)] {
		delete(items, id)
	}
}

// few tells the first changes each, and of the others how many they are.
func few(all []Change) []Change {
	if len(all) <= maxTold {
		return all
	}
	rest := len(all) - maxTold + 1
	return append(all[:maxTold-1:maxTold-1], Change{What: Changed, ID: "more", Title: fmt.Sprintf("and %d more", rest)})
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
