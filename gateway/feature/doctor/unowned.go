package doctor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// Names of the repairs, and how old a file has to be that nobody is about to refer to.
// An upload waits two days for its message.
const (
	repairPictures   = "pictures"
	repairDeliveries = "deliveries"
	repairUploads    = "uploads"
	oldPicture       = 7 * 24 * time.Hour
	oldUpload        = 3 * 24 * time.Hour
	// lookMost is how long somebody who asks how things are waits for the look at
	// pictures, which reads the whole database and its copies.
	lookMost = 10 * time.Second
)

// sumLength is that of a picture's name in hexadecimal digits.
const sumLength = 64

// unowned are pictures that nothing refers to, and how many pictures that chats show
// are not there any more.
type unowned struct {
	pictures []media.Kept
	bytes    int64
	missing  map[string]bool
}

// pictures looks for them. A reference is the picture's name, wherever it stands in the
// database or in a copy of it that somebody may go back to.
func (o Options) pictures(ctx context.Context) (out unowned, err error) {
	out.missing = map[string]bool{}
	all, err := o.Pictures.All()
	if err != nil {
		return out, err
	}
	wanted := map[string]bool{} // those that are there, and whether something refers to them
	for _, k := range all {
		wanted[k.ID] = false
	}
	err = o.Store.Walk(ctx, func(table string, _, value []byte) {
		mark(value, wanted)
		if table == session.TableEntries && bytes.Contains(value, []byte(`"mediaId"`)) {
			for _, id := range shown(value) {
				if _, there := wanted[id]; !there {
					out.missing[id] = true
				}
			}
		}
	}, func() {})
	if err != nil {
		return out, fmt.Errorf("look for pictures in the database: %w", err)
	}
	copies, _ := filepath.Glob(globbed(o.Dir.Store()) + ".*")
	for _, path := range copies {
		if err := markIn(ctx, path, wanted); err != nil {
			return out, fmt.Errorf("look for pictures in %s: %w", path, err)
		}
	}
	for _, k := range all {
		if !wanted[k.ID] && o.Now().Sub(k.At) > oldPicture {
			out.pictures, out.bytes = append(out.pictures, k), out.bytes+k.Bytes
		}
	}
	return out, nil
}

// shown are the pictures of a message.
func shown(value []byte) (ids []string) {
	var m protocol.Message
	if json.Unmarshal(value, &m) != nil {
		return nil
	}
	for _, b := range m.Content {
		if b.Type == protocol.BlockImage && b.MediaID != "" {
			ids = append(ids, b.MediaID)
		}
	}
	return ids
}

// mark notes which of the names of pictures stand in what somebody wrote.
func mark(b []byte, wanted map[string]bool) {
	for len(b) >= sumLength {
		run := 0
		for run < len(b) && (b[run] >= '0' && b[run] <= '9' || b[run] >= 'a' && b[run] <= 'f') {
			run++
		}
		for at := 0; at+sumLength <= run; at++ { // a longer run may hold it anywhere
			if _, ours := wanted[string(b[at:at+sumLength])]; ours {
				wanted[string(b[at:at+sumLength])] = true
			}
		}
		b = b[min(run+1, len(b)):]
	}
}

// markIn does it with a file, whatever the file is.
func markIn(ctx context.Context, path string, wanted map[string]bool) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	r, part := bufio.NewReaderSize(f, 1<<20), make([]byte, 1<<20)
	kept := 0 // what may be the beginning of a name
	for {
		n, err := io.ReadFull(r, part[kept:])
		n += kept
		mark(part[:n], wanted)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		kept = copy(part, part[n-sumLength+1:n])
	}
}

// owned: does what is kept belong to something?
func (o Options) owned(ctx context.Context) (out []protocol.HealthCheck) {
	warn := func(repair, advice, format string, args ...any) {
		out = append(out, protocol.HealthCheck{Area: "folder", State: protocol.CheckWarn, Fixable: repair != "", Repair: repair,
			What: fmt.Sprintf(format, args...), Advice: advice})
	}
	again := "look again; `hearth store check` says whether the database can be read"
	looking, cancel := context.WithTimeout(ctx, lookMost)
	defer cancel()
	p, err := o.pictures(looking)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		out = append(out, protocol.HealthCheck{Area: "folder", State: protocol.CheckOK,
			What: "pictures that belong to no message were not looked for to the end: the database with its copies is too large for that"})
	case err != nil:
		warn("", again, "the pictures of conversations were not looked through: %v", err)
	case len(p.pictures) > 0:
		warn(repairPictures, "`hearth doctor --fix` removes them; none stands in a message or in a copy of the database, or is younger than "+
			"7 days",
			"pictures that belong to no message any more: %d (%d MB), such as %s of %s", len(p.pictures), p.bytes>>20, p.pictures[0].ID[:12],
			p.pictures[0].At.Format("2 January 2006"))
	}
	if n := len(p.missing); n > 0 {
		warn("", "the chats can be read without them; a backup from before may have them, in its folder media",
			"pictures that chats show and that are not there any more: %d", n)
	}
	lost, err := o.Deliveries.Lost(o.hasSession)
	switch {
	case err != nil:
		warn("", again, "the deliveries were not looked through: %v", err)
	case !lost.None():
		warn(repairDeliveries, "`hearth doctor --fix` forgets them; what is still being delivered, and what is younger than 30 days, stays",
			"deliveries of conversations that were deleted: %d, places in lists that lead to none: %d", lost.Deliveries, lost.Indexes)
	}
	if files := o.uploads(); len(files) > 0 {
		warn(repairUploads, "`hearth doctor --fix` removes them; each waited more than 3 days, and none can be sent any more",
			"files that were uploaded for messages which never came: %d", len(files))
	}
	if len(out) == 0 {
		out = []protocol.HealthCheck{{Area: "folder", State: protocol.CheckOK, What: "pictures, deliveries and uploads belong to something"}}
	}
	return out
}

func (o Options) hasSession(key string) (bool, error) {
	_, ok, err := o.Sessions.Get(key)
	return ok, err
}

// uploads are files of the folder of uploads that are older than any may wait.
func (o Options) uploads() (old []string) {
	list, _ := os.ReadDir(o.Dir.Uploads())
	for _, e := range list {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && !strings.HasPrefix(e.Name(), ".") && o.Now().Sub(info.ModTime()) > oldUpload {
			old = append(old, filepath.Join(o.Dir.Uploads(), e.Name()))
		}
	}
	return old
}

func (o Options) removePictures(ctx context.Context) (string, error) {
	p, err := o.pictures(ctx)
	n := 0
	for _, k := range p.pictures {
		if err == nil {
			err, n = o.Pictures.Remove(k), n+1
		}
	}
	return fmt.Sprintf("%d pictures that belonged to no message are removed", n), err
}

func (o Options) forgetDeliveries(ctx context.Context) (string, error) {
	lost, err := o.Deliveries.Lost(o.hasSession)
	if err != nil {
		return "", err
	}
	deliveries, indexes, err := o.Deliveries.Forget(ctx, lost)
	return fmt.Sprintf("%d deliveries of deleted conversations are forgotten, and %d places in lists", deliveries, indexes), err
}

func (o Options) removeUploads(context.Context) (string, error) {
	files := o.uploads()
	var err error
	for _, path := range files {
		err = errors.Join(err, os.Remove(path))
	}
	return fmt.Sprintf("%d uploads without a message are removed", len(files)), err
}
