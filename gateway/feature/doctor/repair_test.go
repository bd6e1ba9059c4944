package doctor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// broken is a gateway in whose database somebody did something while it was stopped.
func broken(t *testing.T, say int, breakIt func(tx *bbolt.Tx) error) *gatewaytest.Peer {
	t.Helper()
	_, p := brokenRig(t, say, breakIt)
	return p
}

func brokenRig(t *testing.T, say int, breakIt func(tx *bbolt.Tx) error) (*gatewaytest.Rig, *gatewaytest.Peer) {
	t.Helper()
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	for n := range say {
		p.Say(fmt.Sprintf("room-%d", n), fmt.Sprint("id-", n), fmt.Sprintf("a hammock number%d", n))
	}
	gatewaytest.WaitFor(t, "the index", func() bool {
		return strings.Contains(fmt.Sprint(checks(p)), fmt.Sprintf("(%d messages were looked up)", 2*say))
	})
	r.Shutdown()
	db, err := bbolt.Open(r.Dir.Store(), 0o600, &bbolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(breakIt); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	r.Start()
	return r, r.Connect()
}

// offered is what the doctor says of a repair, "" when it does not offer it.
func offered(p *gatewaytest.Peer, repair string) string {
	for _, c := range checks(p) {
		if c.Repair == repair && c.Fixable {
			return c.What
		}
	}
	return ""
}

func checks(p *gatewaytest.Peer) []protocol.HealthCheck {
	var d protocol.Doctor
	p.Do(protocol.MethodDoctor, protocol.DoctorParams{}, &d)
	return d.Checks
}

func repair(p *gatewaytest.Peer, name string) (done protocol.DoctorRepaired) {
	p.Do(protocol.MethodDoctorRepair, protocol.DoctorRepairParams{Repair: name}, &done)
	return done
}

// TestLostConversationsComeBack: the row of a chat is gone, and the list of another.
func TestLostConversationsComeBack(t *testing.T) {
	p := broken(t, 3, func(tx *bbolt.Tx) error {
		if err := tx.Bucket([]byte("sessions")).Delete([]byte("agent:main:room-0")); err != nil {
			return err
		}
		recent := tx.Bucket([]byte("sessions.recent"))
		c := recent.Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			if strings.HasSuffix(string(k), "agent:main:room-1") {
				return c.Delete()
			}
		}
		return fmt.Errorf("room-1 is not in the list")
	})
	var list protocol.SessionsList
	p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	if len(list.Sessions) != 1 {
		t.Fatalf("it was not broken: %+v", list.Sessions)
	}
	if said := offered(p, "orphans"); !strings.Contains(said, "without a chat: 1 (with messages: 2), chats missing in the list: 1") {
		t.Fatalf("the doctor says %q", said)
	}
	if done := repair(p, "orphans"); !strings.Contains(done.Said, "1 conversations are archived chats now, 1 chats are in the list again") {
		t.Errorf("%q", done.Said)
	}
	p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	found := ""
	for _, s := range list.Sessions {
		if s.Archived {
			found = s.Key
		}
	}
	if len(list.Sessions) != 3 || found == "" {
		t.Fatalf("the chats are %+v", list.Sessions)
	}
	if h := p.History(found).Messages; len(h) != 2 || h[0].Text() != "a hammock number0" {
		t.Errorf("what came back is %+v", h)
	}
	// It can be gone on with, and nothing of it is written over.
	p.Say(found, "more", "and a second one")
	if h := p.History(found).Messages; len(h) != 4 || h[0].Text() != "a hammock number0" {
		t.Errorf("after going on it is %+v", h)
	}
	if said := offered(p, "orphans"); said != "" {
		t.Errorf("the doctor still says %q", said)
	}
	p.Do(protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: found}, nil)
	if said := offered(p, "orphans"); said != "" {
		t.Errorf("after it was deleted the doctor says %q", said)
	}
}

// TestABrokenSearchIndexIsMadeAnew: words are gone from the index, and what is said
// of how far it is, is wrong.
func TestABrokenSearchIndexIsMadeAnew(t *testing.T) {
	p := broken(t, 3, func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte("search.words")).Cursor()
		for k, _ := c.Seek([]byte("ham")); k != nil && strings.HasPrefix(string(k), "ham"); k, _ = c.Seek([]byte("ham")) {
			if err := c.Delete(); err != nil {
				return err
			}
		}
		return nil
	})
	if got := p.Found("hammock", ""); len(got) > 0 {
		t.Fatalf("it was not broken: %q", got)
	}
	said := ""
	gatewaytest.WaitFor(t, "the doctor to see it", func() bool { said = offered(p, "search"); return said != "" })
	if !strings.Contains(said, "of 6 messages") {
		t.Errorf("the doctor says %q", said)
	}
	repair(p, "search")
	gatewaytest.WaitFor(t, "the index", func() bool { return len(p.Found("hammock", "")) == 6 })
	gatewaytest.WaitFor(t, "the doctor to be content", func() bool { return offered(p, "search") == "" })
}

// TestADeletionIsFinished: Hearth was killed after a chat was deleted and before its
// messages were.
func TestADeletionIsFinished(t *testing.T) {
	var id string
	count := func(tx *bbolt.Tx) (n int) {
		_ = tx.Bucket([]byte("entries")).ForEach(func(_, _ []byte) error { n++; return nil })
		return n
	}
	r, p := brokenRig(t, 2, func(tx *bbolt.Tx) error {
		var row struct {
			SessionID string `json:"sessionId"`
		}
		sessions := tx.Bucket([]byte("sessions"))
		if err := json.Unmarshal(sessions.Get([]byte("agent:main:room-0")), &row); err != nil {
			return err
		}
		gone, err := tx.CreateBucketIfNotExists([]byte("sessions.gone"))
		if err != nil {
			return err
		}
		id = row.SessionID
		return errors.Join(gone.Put([]byte(id), []byte("{}")), sessions.Delete([]byte("agent:main:room-0")))
	})
	if said := offered(p, "orphans"); !strings.HasPrefix(said, "conversations without a chat: 0") {
		t.Errorf("what was deleted is offered again: %q", said)
	}
	r.Shutdown()
	db, err := bbolt.Open(r.Dir.Store(), 0o600, &bbolt.Options{Timeout: time.Second, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	_ = db.View(func(tx *bbolt.Tx) error {
		if n := count(tx); n != 2 {
			t.Errorf("%d messages are left, want those of the other chat", n)
		}
		if tx.Bucket([]byte("sessions.gone")).Get([]byte(id)) != nil {
			t.Error("the note that it is to be removed is left")
		}
		return nil
	})
}

// TestHalvesOfFilesAreRemoved: what a killed write left in the folder of an agent.
func TestHalvesOfFilesAreRemoved(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	ws := gatewaytest.Workspace(t, p)
	old := gatewaytest.PutFile(t, ws, "notes/.hearth-ABCDEFGHIJKLMNOPQRSTUVWX23", []byte("half"))
	young := gatewaytest.PutFile(t, ws, "notes/.hearth-ABCDEFGHIJKLMNOPQRSTUVWX24", []byte("half"))
	mine := gatewaytest.PutFile(t, ws, "notes/.hearth-mine", []byte("whole"))
	long := time.Now().Add(-2 * time.Hour)
	for _, path := range []string{old, mine} {
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
	if said := offered(p, "leftovers"); !strings.Contains(said, ": 1, such as "+old) {
		t.Fatalf("the doctor says %q", said)
	}
	repair(p, "leftovers")
	var left []string
	for _, path := range []string{old, young, mine} {
		if _, err := os.Stat(path); err == nil {
			left = append(left, filepath.Base(path))
		}
	}
	if fmt.Sprint(left) != fmt.Sprint([]string{filepath.Base(young), filepath.Base(mine)}) {
		t.Errorf("it left %v", left)
	}
	said := p.Refused(protocol.MethodDoctorRepair, protocol.DoctorRepairParams{Repair: "everything"})
	if !strings.Contains(said, "no repair of that name") {
		t.Errorf("%q", said)
	}
}

// TestOldCopiesGiveWay: copies of the database take too much; the oldest go, none that
// is young.
func TestOldCopiesGiveWay(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	copies := map[string]time.Duration{ // days
		"replaced-20200101T000000Z": 400, "before-schema-1": 200, "replaced-20260101-000000": 60, "before-update": 1,
	}
	for name, days := range copies {
		path := r.Dir.Store() + "." + name
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-days * 24 * time.Hour)
		if err := errors.Join(os.Truncate(path, 300<<20), os.Chtimes(path, at, at)); err != nil { // a file of holes
			t.Fatal(err)
		}
	}
	if said := offered(p, "copies"); !strings.Contains(said, "take 1200 MB") || !strings.Contains(said, "replaced-2020") {
		t.Fatalf("the doctor says %q", said)
	}
	if done := repair(p, "copies"); !strings.HasPrefix(done.Said, "3 old copies") {
		t.Errorf("%q", done.Said)
	}
	left, _ := filepath.Glob(r.Dir.Store() + ".*-*")
	if len(left) != 1 || !strings.HasSuffix(left[0], "before-update") || offered(p, "copies") != "" {
		t.Errorf("left are %v", left)
	}
}

// TestWhatCopiesTakeIsSaid: copies for undo, of the database, and what a restore kept
// beside the state folder.
func TestWhatCopiesTakeIsSaid(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	aside := string(r.Dir) + ".replaced-20260101-000000"
	if err := os.Mkdir(aside, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(aside) })
	for path, mb := range map[string]int64{filepath.Join(aside, "hearth.db"): 30, r.Dir.LastGood(): 20, r.Dir.Store() + ".before-update": 10} {
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, mb<<20)); err != nil {
			t.Fatal(err)
		}
	}
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{"undo":{"maxMB":77}}`}, nil)
	for _, c := range checks(p) {
		if strings.HasPrefix(c.What, "copies for going back") {
			want := "take 60 MB of the disk: for undo 0 of at most 77 MB, the last good copy of the database 20 MB, its old copies 10 MB, " +
				"what restores kept 30 MB"
			if !strings.HasSuffix(c.What, want) {
				t.Errorf("the doctor says %q", c.What)
			}
			return
		}
	}
	t.Error("the doctor does not say what copies take")
}
