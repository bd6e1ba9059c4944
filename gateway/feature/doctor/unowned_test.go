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
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// TestPicturesOfNobodyAreRemoved: of the pictures that are kept, those go that are old
// and stand nowhere: in no message, and in no copy of the database.
func TestPicturesOfNobodyAreRemoved(t *testing.T) {
	id := func(c string) string { return strings.Repeat(c, 64) }
	r, p := brokenRig(t, 1, func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte("entries")).Cursor()
		k, v := c.First()
		var m map[string]any
		if err := json.Unmarshal(v, &m); err != nil {
			return err
		}
		picture := func(id string) any { return map[string]any{"type": "image", "mimeType": "image/png", "mediaId": id} }
		m["content"] = append(m["content"].([]any), picture(id("a")), picture(id("f")))
		raw, err := json.Marshal(m)
		return errors.Join(err, tx.Bucket([]byte("entries")).Put(append([]byte(nil), k...), raw))
	})
	if err := errors.Join(os.MkdirAll(r.Dir.Media(), 0o700),
		os.WriteFile(r.Dir.Store()+".before-update", []byte(strings.Repeat("x", 1<<20-30)+id("b")+"y"), 0o600)); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-8 * 24 * time.Hour)
	for _, c := range []string{"a", "b", "c", "d"} {
		path := filepath.Join(r.Dir.Media(), id(c))
		if err := os.WriteFile(path, []byte(c), 0o600); err != nil {
			t.Fatal(err)
		}
		if c != "d" { // which somebody has just sent
			if err := os.Chtimes(path, long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	if said := offered(p, "pictures"); !strings.HasPrefix(said, "pictures that belong to no message any more: 1 ") ||
		!strings.Contains(said, id("c")[:12]) {
		t.Fatalf("the doctor says %q", said)
	}
	if all := fmt.Sprint(checks(p)); !strings.Contains(all, "not there any more: 1") {
		t.Errorf("it does not say what is missing: %s", all)
	}
	if done := repair(p, "pictures"); !strings.HasPrefix(done.Said, "1 pictures") {
		t.Errorf("%q", done.Said)
	}
	list, err := os.ReadDir(r.Dir.Media())
	if err != nil || len(list) != 3 || offered(p, "pictures") != "" {
		t.Errorf("left are %v, %v", list, err)
	}
}

// TestDeliveriesOfNobodyAreForgotten: of deliveries whose conversation is gone, those go
// that are over and old; what is on its way, what is young and what belongs to a
// conversation stays. Places in the lists that lead to none go as well.
func TestDeliveriesOfNobodyAreForgotten(t *testing.T) {
	now, old := time.Now().UnixMilli(), time.Now().Add(-31*24*time.Hour).UnixMilli()
	rows := []outbound.Delivery{
		{ID: "gone", Session: "agent:main:gone", State: outbound.Failed, UpdatedAt: old},
		{ID: "young", Session: "agent:main:gone", State: outbound.Failed, UpdatedAt: now},
		{ID: "waiting", Session: "agent:main:gone", State: outbound.Waiting, UpdatedAt: old, NextAt: now + 1e9},
		{ID: "there", Session: "agent:main:room-0", State: outbound.Uncertain, UpdatedAt: old},
		{ID: "nobody's", State: outbound.Failed, UpdatedAt: old},
	}
	put := func(tx *bbolt.Tx, table string, key []byte, v any) error {
		b, err := tx.CreateBucketIfNotExists([]byte(table))
		if err != nil {
			return err
		}
		raw, err := json.Marshal(v)
		return errors.Join(err, b.Put(key, raw))
	}
	r, p := brokenRig(t, 1, func(tx *bbolt.Tx) error {
		for i, v := range rows {
			v.Seq, v.Channel, v.Text = uint64(i+1), "telegram", "an answer"
			v.To.Conversation = "1"
			if err := errors.Join(put(tx, "deliveries", store.Uint64Key(v.Seq), v), put(tx, "delivery-ids", []byte(v.ID), v.Seq)); err != nil {
				return err
			}
		}
		return errors.Join(put(tx, "delivery-ids", []byte("nothing"), 77),
			put(tx, "delivery-open", append([]byte{9}, store.Uint64Key(78)...), "x"))
	})
	if said := offered(p, "deliveries"); said != "deliveries of conversations that were deleted: 1, places in lists that lead to none: 2" {
		t.Fatalf("the doctor says %q", said)
	}
	if done := repair(p, "deliveries"); !strings.HasPrefix(done.Said, "1 deliveries") || !strings.Contains(done.Said, "2 places") {
		t.Errorf("%q", done.Said)
	}
	if said := offered(p, "deliveries"); said != "" {
		t.Errorf("afterwards the doctor says %q", said)
	}
	r.Shutdown()
	db, err := bbolt.Open(r.Dir.Store(), 0o600, &bbolt.Options{Timeout: time.Second, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	_ = db.View(func(tx *bbolt.Tx) error {
		for i, v := range rows {
			if there := tx.Bucket([]byte("deliveries")).Get(store.Uint64Key(uint64(i+1))) != nil; there != (v.ID != "gone") {
				t.Errorf("%s is there: %v", v.ID, there)
			}
		}
		return nil
	})
}

// TestUploadsOfNobodyAreRemoved: a file that was uploaded for a message that never came.
func TestUploadsOfNobodyAreRemoved(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	if err := os.MkdirAll(r.Dir.Uploads(), 0o700); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-4 * 24 * time.Hour)
	for _, name := range []string{"old", "young"} {
		path := filepath.Join(r.Dir.Uploads(), name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "old" {
			if err := os.Chtimes(path, long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	if said := offered(p, "uploads"); !strings.HasSuffix(said, ": 1") {
		t.Fatalf("the doctor says %q", said)
	}
	repair(p, "uploads")
	if list, _ := os.ReadDir(r.Dir.Uploads()); len(list) != 1 || list[0].Name() != "young" {
		t.Errorf("left are %v", list)
	}
}
