package search

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// DefaultLimit and MaxLimit of hits.
	DefaultLimit = 20
	MaxLimit     = 200
	// maxLooked bounds how many messages one search reads.
	maxLooked = 2000
	// maxNew bounds how many messages that are not in the index one search reads.
	maxNew = 5000
)

// ErrNoWords: the query has nothing to look for.
var ErrNoWords = errors.New("the query has no words in it")

// Params of a search.
type Params struct {
	Query string
	Key   string // only this session
	Limit int
}

// Find returns the newest messages that hold the words.
func (x *Index) Find(ctx context.Context, p Params) (protocol.SessionsSearch, error) {
	out := protocol.SessionsSearch{Query: p.Query, Results: []protocol.SearchHit{}}
	q := parse(p.Query)
	if len(q.words) == 0 {
		return out, ErrNoWords
	}
	if p.Limit <= 0 {
		p.Limit = DefaultLimit
	}
	p.Limit = min(p.Limit, MaxLimit)
	f := &finder{x: x, Params: p, q: q, known: map[string]transcript{}, branch: map[string]func(int64) bool{}, seen: map[doc]bool{}}
	if err := f.readNew(ctx); err != nil {
		return out, err
	}
	if err := f.readIndex(ctx); err != nil {
		return out, err
	}
	slices.SortStableFunc(f.hits, func(a, b protocol.SearchHit) int {
		return cmp.Or(cmp.Compare(b.Timestamp, a.Timestamp), cmp.Compare(b.Seq, a.Seq))
	})
	if len(f.hits) > p.Limit {
		f.hits, out.HasMore = f.hits[:p.Limit], true
	}
	out.Results = append(out.Results, f.hits...)
	x.mu.Lock()
	out.Indexing = x.building
	x.mu.Unlock()
	return out, nil
}

// doc is where a message is.
type doc struct {
	sessionID string
	seq       int64
}

// finder is one search.
type finder struct {
	x *Index
	Params
	q      query
	known  map[string]transcript           // by session id; no key: it is gone
	branch map[string]func(seq int64) bool // which positions count, by session id
	seen   map[doc]bool
	hits   []protocol.SearchHit
}

// readNew looks at messages that the index does not have yet.
func (f *finder) readNew(ctx context.Context) error {
	f.x.mu.Lock()
	keys := slices.Sorted(maps.Keys(f.x.dirty))
	f.x.mu.Unlock()
	left := maxNew
	for _, key := range keys {
		if f.Key != "" && key != f.Key {
			continue
		}
		err := f.x.Source.Transcripts(key, func(_, id, title string) error {
			t := transcript{key, id, title}
			after, err := f.x.upTo(t.id)
			if err != nil {
				return err
			}
			shown, err := f.shown(t)
			for err == nil && left > 0 && ctx.Err() == nil {
				var msgs []protocol.Message
				if msgs, _, err = f.x.Source.Entries(t.id, after, readEntries); len(msgs) == 0 {
					break
				}
				for i := range msgs {
					if shown(msgs[i].Meta.Seq) {
						f.look(t, &msgs[i])
					}
				}
				left -= len(msgs)
				after = msgs[len(msgs)-1].Meta.Seq
			}
			return err
		})
		if err != nil || ctx.Err() != nil {
			return cmp.Or(err, ctx.Err())
		}
	}
	return nil
}

// readIndex looks at the newest messages that the index knows for the words.
// It reads on a little beyond the limit, because the order of the index is
// that of time only within a transcript.
func (f *finder) readIndex(ctx context.Context) error {
	want, looked := len(f.hits)+f.Limit*2+50, 0
	docs, err := f.candidates()
	if err != nil {
		return err
	}
	for _, d := range docs {
		if looked++; len(f.hits) >= want || looked > maxLooked {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		t, ok, err := f.transcript(d.sessionID)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		shown, err := f.shown(t)
		if err != nil {
			return err
		}
		if !shown(d.seq) {
			continue
		}
		m, ok, err := f.x.Source.Entry(d.sessionID, d.seq)
		if err != nil {
			return err
		}
		if ok {
			f.look(t, &m)
		}
	}
	return nil
}

// candidates are the messages that have all words, the newest first.
func (f *finder) candidates() (docs []doc, err error) {
	err = f.x.DB.View(func(tx *store.Tx) error {
		st, ok, err := f.x.t.state.Get(tx, stateKey)
		if err != nil || !ok || st.Version != version || st.Next == 0 {
			return err
		}
		all, one := newBitmap(st.Next), newBitmap(st.Next)
		if err := f.allWords(tx, all, one); err != nil {
			return err
		}
		for n := range all.descending() {
			v := f.x.t.docs.GetRaw(tx, docKey(n))
			if len(v) != 24 {
				continue // it was forgotten
			}
			docs = append(docs, docOf(v))
			if len(docs) == maxLooked {
				break
			}
		}
		return nil
	})
	return docs, err
}

func (f *finder) allWords(tx *store.Tx, all, one *bitmap) error {
	first := true
	narrow := func(fill func(*bitmap)) {
		if first {
			fill(all)
			first = false
			return
		}
		one.clear()
		fill(one)
		all.and(one)
	}
	if f.Key != "" {
		ids, err := f.idsOf(tx)
		if err != nil {
			return err
		}
		narrow(func(b *bitmap) {
			for _, id := range ids {
				f.x.addRows(tx, append(transcriptTerm(id), 0), b)
			}
		})
	}
	for _, w := range f.q.words {
		for _, prefix := range w.rows() {
			narrow(func(b *bitmap) { f.x.addRows(tx, prefix, b) })
		}
	}
	return nil
}

// rows are the prefixes of the index rows for a word: a message must be in one
// row of each.
func (w wanted) rows() (prefixes [][]byte) {
	if !w.dense {
		term := slices.Clone(clipTerm(w.folded))
		if !w.prefix || len(term) < len(w.folded) {
			term = append(term, 0)
		}
		return [][]byte{term}
	}
	token{folded: w.folded, dense: true}.addTerms(func(term []byte) { prefixes = append(prefixes, slices.Clone(term)) })
	if n := len(prefixes); n > 1 {
		prefixes = prefixes[:n-1] // the last rune alone says nothing more
	}
	return prefixes
}

// addRows adds the messages of all rows with a prefix.
func (x *Index) addRows(tx *store.Tx, prefix []byte, b *bitmap) {
	for k, v := range x.t.postings.ScanRaw(tx, store.Range{Prefix: prefix}) {
		eachPosting(k, v, b.add)
	}
}

// idsOf are the transcripts of the session that is searched.
func (f *finder) idsOf(tx *store.Tx) (ids []string, err error) {
	for row, err := range f.x.t.progress.Scan(tx, store.Range{}) {
		if err != nil {
			return nil, err
		}
		if row.Value.SessionKey == f.Key {
			ids = append(ids, string(row.Key))
		}
	}
	return ids, nil
}

// transcript finds whose message it is; ok is false when it is gone.
func (f *finder) transcript(id string) (t transcript, ok bool, err error) {
	if t, ok := f.known[id]; ok {
		return t, t.key != "", nil
	}
	var p progress
	err = f.x.DB.View(func(tx *store.Tx) (err error) {
		p, ok, err = f.x.t.progress.Get(tx, []byte(id))
		return err
	})
	if err == nil && ok {
		if t.title, ok, err = f.x.Source.Transcript(p.SessionKey, id); ok {
			t.key, t.id = p.SessionKey, id
		}
	}
	if err == nil {
		f.known[id] = t
	}
	return t, ok, err
}

// shown tells which messages of a transcript people see there.
func (f *finder) shown(t transcript) (func(seq int64) bool, error) {
	if on, ok := f.branch[t.id]; ok {
		return on, nil
	}
	on, err := f.x.Source.Shown(t.key, t.id)
	if err == nil {
		f.branch[t.id] = on
	}
	return on, err
}

// look takes a message that holds the words.
func (f *finder) look(t transcript, m *protocol.Message) {
	d := doc{t.id, m.Meta.Seq}
	text := searchable(m)
	if text == "" || f.seen[d] {
		return
	}
	spans, ok := f.q.match(text)
	if !ok {
		return
	}
	f.seen[d] = true
	h := protocol.SearchHit{
		SessionKey: t.key, SessionID: t.id, Title: t.title,
		MessageID: m.Meta.ID, Seq: m.Meta.Seq, Role: m.Role, Timestamp: m.Timestamp, Score: float64(len(spans)),
	}
	h.Snippet, h.Ranges = snippet(text, spans)
	f.hits = append(f.hits, h)
}
