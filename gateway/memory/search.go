package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// syncWait is how long a search waits for files that changed; what is not
	// read by then is found by the next one.
	syncWait = 1500 * time.Millisecond
	// embedWait is how long it waits for the vector of the question.
	embedWait = 8 * time.Second
	// MaxResults is the most that one search returns.
	MaxResults = 50
	// maxQuery is the longest question, in bytes.
	maxQuery = 4000
	// shortlist is how many chunks are compared by their whole vectors.
	shortlist = 400
	// prefixes is how many words one sign may stand for.
	prefixes = 64
	// rankBase flattens the fusion of ranks: the first places matter, but not all.
	rankBase = 60

	bm25K, bm25B = 1.2, 0.75
)

// ErrNoWords: the question has nothing to look for.
var ErrNoWords = errors.New("the query has no words in it")

// Query is what is looked for.
type Query struct {
	Scope
	Text     string
	Limit    int     // 0: as the settings say
	MinScore float64 // 0: as the settings say
}

// Hit is a part of a file.
type Hit struct {
	Path     string
	From, To int // lines
	Text     string
	Score    float64 // 0…1, comparable within one answer
	Words    bool    // found by its words
	Meaning  bool    // found by its vector
}

// Citation is how a hit is named.
func (h Hit) Citation() string { return cite(h.Path, h.From, h.To) }

func cite(path string, from, to int) string {
	if from == to {
		return fmt.Sprintf("%s#L%d", path, from)
	}
	return fmt.Sprintf("%s#L%d-L%d", path, from, to)
}

// Found is the answer to a Query.
type Found struct {
	Hits []Hit
	// Mode is "words", or "hybrid" when vectors were compared as well.
	Mode string
	// Partial says why there may be more, "" when everything was searched.
	Partial string
}

// part is a segment that is searched.
type part struct {
	seg
	rel  string
	base int // the number of its first chunk in this search
}

// rank is a chunk and how well it fits.
type rank struct {
	chunk int
	score float64
}

// Search finds the chunks that fit best.
func (x *Index) Search(ctx context.Context, q Query) (Found, error) {
	set := x.Settings().filled()
	q.Text = strings.ToValidUTF8(q.Text[:min(len(q.Text), maxQuery)], "")
	q.Limit = min(cmp.Or(max(q.Limit, 0), set.MaxResults), MaxResults)
	if q.MinScore <= 0 {
		q.MinScore = set.MinScore
	}
	words := queryWords(q.Text)
	if len(words) == 0 {
		return Found{}, ErrNoWords
	}
	out := Found{Mode: "words", Partial: x.freshen(ctx, q.Agent)}
	vector, why := x.questionVector(ctx, q.Text)
	if why != "" {
		out.Partial = why
	}
	for range 3 { // files may change while they are searched
		hits, again, err := x.searchOnce(q, set, words, vector)
		if err != nil {
			return out, err
		}
		out.Hits = hits
		if !again {
			break
		}
		if why := x.freshen(ctx, q.Agent); why != "" {
			out.Partial = why
			break
		}
	}
	if vector != nil {
		out.Mode = "hybrid"
	}
	return out, ctx.Err()
}

// freshen lets the index agree with the files, for a moment at most.
func (x *Index) freshen(ctx context.Context, agent string) (partial string) {
	short, cancel := context.WithTimeout(ctx, syncWait)
	defer cancel()
	x.mu.Lock()
	loaded := x.loaded
	x.mu.Unlock()
	if err := x.Sync(short, agent); err != nil && ctx.Err() == nil {
		x.Touch(agent)
		if !loaded || errors.Is(err, context.DeadlineExceeded) {
			return "some files are still being read; search again in a moment to find what is in them"
		}
		return "the index could not be brought up to date: " + err.Error()
	}
	return ""
}

// questionVector is what the question means, nil without a model.
func (x *Index) questionVector(ctx context.Context, text string) (v []float32, why string) {
	e := x.Embedder()
	if e == nil {
		return nil, ""
	}
	x.mu.Lock()
	ready := x.embed.model == e.Name()
	x.mu.Unlock()
	if !ready {
		return nil, "the notes have no vectors of " + e.Name() + " yet; only words were compared"
	}
	short, cancel := context.WithTimeout(ctx, embedWait)
	defer cancel()
	vs, err := embed(short, e, []string{text})
	if err != nil {
		return nil, "only words were compared, because " + e.Name() + " did not answer: " + err.Error()
	}
	return vs[0], ""
}

// parts are the segments of a scope.
func (x *Index) parts(s Scope) (out []part, chunks, words int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for key, f := range x.files {
		agent, rel := splitKey(key)
		if agent != s.Agent || !s.Has(rel) {
			continue
		}
		for _, sg := range f.Segs {
			out = append(out, part{seg: sg, rel: rel})
			words += sg.Words
		}
	}
	slices.SortStableFunc(out, func(a, b part) int { return cmp.Compare(a.ID, b.ID) })
	for i := range out {
		out[i].base = chunks
		chunks += out[i].N
	}
	return out, chunks, words
}

// searchOnce is a search of the index as it is; again tells that it is behind
// the files.
func (x *Index) searchOnce(q Query, set Settings, words []queryWord, vector []float32) (hits []Hit, again bool, err error) {
	parts, chunks, total := x.parts(q.Scope)
	if chunks == 0 {
		return nil, false, nil
	}
	want := max(50, 4*q.Limit)
	var byWords, byMeaning []rank
	where := map[int]placeOf{}
	err = x.DB.View(func(tx *store.Tx) error {
		open := make([]segment, len(parts))
		for i, p := range parts {
			sg, ok := openSegment(x.t.segments.GetRaw(tx, segKey(p.ID)), false)
			if !ok || sg.n != p.N {
				again = true
				continue
			}
			open[i] = sg
		}
		byWords = rankWords(open, parts, words, chunks, total, want)
		if vector != nil {
			byMeaning = x.rankVectors(tx, parts, newQuestion(vector), want)
		}
		for _, list := range [][]rank{byWords, byMeaning} {
			for _, r := range list {
				i := partOf(parts, r.chunk)
				if n := r.chunk - parts[i].base; n < open[i].n {
					where[r.chunk] = open[i].chunk(n)
				}
			}
		}
		return nil
	})
	if err != nil || again {
		return nil, again, err
	}
	fused := fuse(byWords, byMeaning, set)
	hits, again = x.readHits(q, parts, fused, where)
	return hits, again, nil
}

func partOf(parts []part, chunk int) int {
	i, _ := slices.BinarySearchFunc(parts, chunk, func(p part, c int) int {
		if p.base+p.N <= c {
			return -1
		}
		if p.base > c {
			return 1
		}
		return 0
	})
	return i
}

// rankWords is BM25 over the chunks of all parts.
func rankWords(open []segment, parts []part, words []queryWord, chunks, total, want int) []rank {
	scores := make([]float32, chunks)
	average := max(1, float64(total)/float64(chunks))
	type hit struct {
		part int
		p    postings
	}
	var lists []hit
	for _, w := range words {
		lists = lists[:0]
		df := 0
		collect := func(prefix bool) {
			for i, sg := range open {
				sg.find([]byte(w.text), prefix, prefixes, func(p postings) {
					lists = append(lists, hit{i, p})
					df += p.count
				})
			}
		}
		if collect(w.prefix); len(lists) == 0 && len(w.text) >= 4 {
			collect(true) // nobody wrote it so: what begins with it may be meant
		}
		df = min(df, chunks)
		idf := math.Log(1 + (float64(chunks-df)+0.5)/(float64(df)+0.5))
		for _, l := range lists {
			sg, base := open[l.part], parts[l.part].base
			sg.each(l.p, func(c, times int) {
				tf := float64(times)
				norm := bm25K * (1 - bm25B + bm25B*float64(sg.words(c))/average)
				scores[base+c] += float32(idf * tf * (bm25K + 1) / (tf + norm))
			})
		}
	}
	b := best{want: want}
	for i, s := range scores {
		if s > 0 {
			b.add(rank{i, float64(s)})
		}
	}
	return b.sorted()
}

// rankVectors finds what means nearly the same: by signs first, the best of
// them by their whole vectors.
func (x *Index) rankVectors(tx *store.Tx, parts []part, q question, want int) []rank {
	size := len(q.signs) * 8
	near := best{want: shortlist}
	for _, p := range parts {
		row := x.t.signs.GetRaw(tx, segKey(p.ID))
		if len(row) != p.N*size {
			continue // none yet, or of another model
		}
		for i := range p.N {
			near.add(rank{p.base + i, -float64(q.distance(row[i*size:]))})
		}
	}
	b := best{want: want}
	for _, r := range near.list {
		p := parts[partOf(parts, r.chunk)]
		if row, ok := openVectors(x.t.vectors.GetRaw(tx, segKey(p.ID)), p.N); ok {
			if s := q.cosine(row, r.chunk-p.base); s > 0 {
				b.add(rank{r.chunk, s})
			}
		}
	}
	return b.sorted()
}

// fused is a chunk with its ranks put together.
type fused struct {
	rank
	words, meaning bool
}

// fuse adds what the places in both lists are worth: what both find comes first.
func fuse(byWords, byMeaning []rank, set Settings) []fused {
	wWords, wMeaning := set.TextWeight, set.VectorWeight
	if len(byMeaning) == 0 {
		wWords, wMeaning = 1, 0
	}
	top := (wWords + wMeaning) / (rankBase + 1)
	all := map[int]*fused{}
	for place, r := range byWords {
		all[r.chunk] = &fused{rank: rank{r.chunk, wWords / float64(rankBase+1+place) / top}, words: true}
	}
	for place, r := range byMeaning {
		f := all[r.chunk]
		if f == nil {
			f = &fused{rank: rank{chunk: r.chunk}}
			all[r.chunk] = f
		}
		f.meaning = true
		f.score += wMeaning / float64(rankBase+1+place) / top
	}
	if len(byMeaning) == 0 { // then the words' own scores say more than their order
		for _, r := range byWords {
			all[r.chunk].score = r.score / byWords[0].score
		}
	}
	out := make([]fused, 0, len(all))
	for _, f := range all {
		out = append(out, *f)
	}
	slices.SortStableFunc(out, func(a, b fused) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.chunk, b.chunk))
	})
	return out
}

// readHits reads the best from their files. What does not stand there any more
// is left out; again tells that there was such.
func (x *Index) readHits(q Query, parts []part, list []fused, where map[int]placeOf) (hits []Hit, again bool) {
	seen := map[[hashBytes]byte]bool{}
	files := map[string]*os.File{}
	defer func() {
		for _, h := range files {
			if h != nil {
				_ = h.Close()
			}
		}
	}()
	for _, f := range list {
		if len(hits) >= q.Limit {
			break
		}
		at, ok := where[f.chunk]
		if !ok || f.score < q.MinScore || seen[at.hash] {
			continue
		}
		seen[at.hash] = true
		rel := parts[partOf(parts, f.chunk)].rel
		h, ok := files[rel]
		if !ok {
			h, _, _ = x.open(q.Agent, rel) // nil: it is gone
			files[rel] = h
		}
		if h == nil {
			again = true
			continue
		}
		text, ok := readChunk(h, at)
		if !ok {
			again = true
			continue
		}
		hits = append(hits, Hit{Path: rel, From: at.from, To: at.to, Text: legible(text), Score: math.Round(f.score*1000) / 1000, Words: f.words,
			Meaning: f.meaning})
	}
	return hits, again
}
