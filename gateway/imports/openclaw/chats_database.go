package openclaw

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/imports/source"
	"github.com/hearth-assistant/hearth/gateway/sqlite"
)

const (
	maxEvents  = 5_000_000 // of an agent
	maxArchive = 256 << 20 // of one session that was put away, unpacked
)

// errManyEvents: nobody has said so much.
var errManyEvents = errors.New("the database has more than 5,000,000 lines of transcripts")

// place is where a line of a transcript is.
type place struct{ seq, row int64 }

// databaseChats are the sessions of an agent's database, the live ones and those
// that were put away.
func (h *home) databaseChats(ctx context.Context, agent, name string, seen map[string]bool) error {
	db, closeDB, err := h.t.Database(ctx, name)
	if err != nil {
		return h.give(imports.Left(imports.Chats, name, imports.Why(err), 1))
	}
	defer closeDB()
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxArchive))
	if err != nil {
		return err
	}
	defer unpack.Close()
	a := &agentDB{h: h, db: db, agent: agent, unpack: unpack, lines: map[string][]place{}, entries: map[string]entry{}, seen: seen}
	for _, step := range []func(context.Context) error{a.readEntries, a.findLines, a.giveLive, a.giveArchived} {
		if err := step(ctx); err != nil {
			if errors.Is(err, sqlite.ErrDamaged) {
				return h.give(imports.Left(imports.Chats, name, imports.Why(err), 1))
			}
			return err
		}
	}
	return nil
}

type agentDB struct {
	h       *home
	db      *sqlite.File
	agent   string
	unpack  *zstd.Decoder
	lines   map[string][]place // by session id
	entries map[string]entry   // by session id
	seen    map[string]bool
}

// readEntries reads what is said of each session.
func (a *agentDB) readEntries(context.Context) error {
	byKey := map[string]entry{}
	if a.db.Table("session_nodes") != nil {
		err := each(a.db, "session_nodes", func(r *sqlite.Row) error {
			var e entry
			if json.Unmarshal([]byte(r.Text("entry_json")), &e) != nil {
				e = entry{}
			}
			e.key = r.Text("session_key")
			e.Label, e.DisplayName = cmp.Or(r.Text("label"), e.Label), cmp.Or(r.Text("display_name"), e.DisplayName)
			e.created, e.updated, e.archived = r.Int("created_at"), r.Int("updated_at"), !r.Null("archived_at")
			byKey[e.key] = e
			a.entries[r.Text("current_session_id")] = e
			return nil
		})
		if err != nil {
			return err
		}
	}
	if a.db.Table("session_windows") == nil {
		return nil
	}
	return each(a.db, "session_windows", func(r *sqlite.Row) error {
		id := r.Text("session_id")
		e, current := a.entries[id]
		if !current {
			e = byKey[r.Text("session_key")]
			e.key = r.Text("session_key")
		}
		e.created = cmp.Or(r.Int("created_at"), e.created)
		a.entries[id] = e
		return nil
	})
}

// findLines notes where the lines of each session are, without reading them.
func (a *agentDB) findLines(ctx context.Context) error {
	if a.db.Table("transcript_events") == nil {
		return nil
	}
	n := 0
	return each(a.db, "transcript_events", func(r *sqlite.Row) error {
		if n++; n > maxEvents {
			return errManyEvents
		}
		id := r.Text("session_id")
		a.lines[id] = append(a.lines[id], place{r.Int("seq"), r.ID})
		return ctx.Err()
	})
}

func (a *agentDB) giveLive(ctx context.Context) error {
	ids := make([]string, 0, len(a.lines))
	for id := range a.lines {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y string) int {
		return cmp.Or(cmp.Compare(a.entries[x].created, a.entries[y].created), strings.Compare(x, y))
	})
	for _, id := range ids {
		list := a.lines[id]
		slices.SortFunc(list, func(x, y place) int { return cmp.Compare(x.seq, y.seq) })
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.chat(id, id, a.entries[id], a.events(list), false); err != nil {
			return err
		}
		a.seen[id] = true
	}
	return nil
}

func (a *agentDB) chat(id, name string, e entry, lines iter.Seq2[source.Element, error], archived bool) error {
	return a.h.give(imports.Item{Kind: imports.Chats, ID: id, Name: cmp.Or(e.title(), e.key, name), Chat: &imports.Chat{
		Agent: a.agent, Title: e.title(), CreatedAt: e.created, Archived: archived || e.archived, Messages: messages(lines),
	}})
}

// events reads the lines of a session.
func (a *agentDB) events(list []place) iter.Seq2[source.Element, error] {
	return func(yield func(source.Element, error) bool) {
		for _, p := range list {
			r, err := a.db.Row("transcript_events", p.row)
			if err != nil || r == nil {
				yield(source.Element{}, cmp.Or(err, sqlite.ErrDamaged))
				return
			}
			e := source.Element{TooLong: r.Size() > maxEvent}
			if !e.TooLong {
				e.Data, err = a.event(r)
			}
			if e.TooLong = e.TooLong || err != nil; !yield(e, r.Err()) || r.Err() != nil {
				return
			}
		}
	}
}

// event is a line, which may be packed.
func (a *agentDB) event(r *sqlite.Row) ([]byte, error) {
	if r.Null("event_json") && !r.Null("event_zstd") {
		b, err := a.unpack.DecodeAll(r.Blob("event_zstd"), nil)
		if err == nil && len(b) > maxEvent {
			err = source.ErrTooLarge
		}
		return b, err
	}
	return []byte(r.Text("event_json")), nil
}

// giveArchived are sessions that were reset or deleted there.
func (a *agentDB) giveArchived(ctx context.Context) error {
	if a.db.Table("session_transcript_archives") == nil {
		return nil
	}
	return each(a.db, "session_transcript_archives", func(r *sqlite.Row) error {
		id, blob := r.Text("session_id"), r.Blob("archive_blob")
		name := id + "." + r.Text("generation")
		if r.Text("encoding") == "zstd" {
			var err error
			if blob, err = a.unpack.DecodeAll(blob, nil); err != nil {
				return a.h.give(imports.Left(imports.Chats, name, "it cannot be unpacked: "+imports.Why(err), 1))
			}
		}
		e := a.entries[id]
		e.key = cmp.Or(e.key, r.Text("session_key"))
		if file, ok := transcriptID(r.Text("archive_name")); ok {
			a.seen[file] = true // the same, as a file
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return a.chat(name, id, e, source.Lines(strings.NewReader(string(blob)), maxEvent), true)
	})
}
