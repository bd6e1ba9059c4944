package gateway_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// BenchmarkTurn is a whole turn through the gateway, client and model server in the
// same process, in a conversation that is so many turns old already.
func BenchmarkTurn(b *testing.B) {
	for _, turns := range []int{0, 10, 100, 1000, 10000} {
		b.Run(fmt.Sprintf("history=%d", turns), func(b *testing.B) {
			r := gatewaytest.New(b, "chat/stream-8-3")
			r.Shutdown()
			wide(b, r)
			key := "agent:main:old"
			if turns > 0 {
				age(b, r, key, turns)
			}
			r.Start()
			p := r.Connect(protocol.CapSlimDeltas)
			p.Do(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: key}, nil)
			one := func(i int) {
				if turns == 0 && i%5 == 0 { // a new session
					key = fmt.Sprintf("agent:main:new-%d-%d", b.N, i)
					p.Do(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: key}, nil)
				}
				id := fmt.Sprintf("run-%d-%d", b.N, i)
				p.Send(key, id, fmt.Sprintf("question %d", i))
				p.Ended(id)
				p.Mu.Lock()
				p.Events = p.Events[:0]
				p.Mu.Unlock()
			}
			one(-1)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				one(i)
			}
		})
	}
}

// wide gives the model a window that holds the longest conversation.
func wide(b *testing.B, r *gatewaytest.Rig) {
	b.Helper()
	path := filepath.Join(string(r.Dir), "hearth.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	api := `"api":"openai-completions"`
	raw = bytes.Replace(raw, []byte(api), []byte(api+`,"models":[{"id":"stream-8-3","contextWindow":2000000}]`), 1)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		b.Fatal(err)
	}
}

// age writes a conversation of so many turns into a store that is closed.
func age(b *testing.B, r *gatewaytest.Rig, key string, turns int) {
	b.Helper()
	db, err := store.Open(r.Dir.Store(), store.Options{NoSync: true, ReserveBytes: -1})
	if err != nil {
		b.Fatal(err)
	}
	id := "00112233-4455-6677-8899-aabbccddeeff"
	raw, _ := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	rows := store.NewBucket[session.Row](session.TableSessions)
	recent := store.NewBucket[struct{}]("sessions.recent")
	entries := store.NewBucket[protocol.Message](session.TableEntries)
	const at = 1_760_000_000_000
	err = db.Update(b.Context(), store.Write{Do: func(tx *store.Tx) error {
		row := session.Row{Key: key, SessionID: id, AgentID: "main", CreatedAt: at, UpdatedAt: at, Title: "old"}
		row.NextTurn, row.Messages = uint64(turns)+1, 2*turns
		if err := rows.Put(tx, []byte(key), row); err != nil {
			return err
		}
		if err := recent.Put(tx, append(binary.BigEndian.AppendUint64(nil, ^uint64(at)), key...), struct{}{}); err != nil {
			return err
		}
		for turn := 1; turn <= turns; turn++ {
			for step, role := range []string{protocol.MessageUser, protocol.MessageAssistant} {
				words := fmt.Sprintf("This is entry %d of turn %d, of the length that people write when they are brief and to the point.", step, turn)
				meta := &protocol.MessageMeta{ID: fmt.Sprintf("%032d", 2*turn+step), Seq: int64(turn)<<16 | int64(step)}
				meta.RunID = fmt.Sprintf("old-%032d", turn)
				m := protocol.Message{Role: role, Timestamp: at, Content: protocol.TextBlocks(words), Meta: meta}
				if role == protocol.MessageUser {
					m.Hearth = &protocol.MessageReceipt{State: protocol.ReceiptAnswered}
				} else {
					m.Provider, m.Model, m.StopReason = "chat", "stream-8-3", "stop"
				}
				if err := entries.Put(tx, binary.BigEndian.AppendUint64(append([]byte(nil), raw...), uint64(m.Meta.Seq)), m); err != nil {
					return err
				}
			}
		}
		return nil
	}})
	if err := errors.Join(err, db.Close(b.Context())); err != nil {
		b.Fatal(err)
	}
}
