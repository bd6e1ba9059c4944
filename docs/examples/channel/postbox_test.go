package postbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	postbox "github.com/hearth-assistant/hearth/docs/examples/channel"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// TestChannel: the made-up network passes the suite that every channel passes.
func TestChannel(t *testing.T) {
	channeltest.Run(t, func(t *testing.T) *channeltest.Setup {
		net := loopback.NewNet()
		server := httptest.NewServer(postOffice(net))
		t.Cleanup(server.Close)
		ch, err := postbox.Kind().New(account(server.URL))
		if err != nil {
			t.Fatal(err)
		}
		return &channeltest.Setup{
			Channel: ch, Net: net,
			Target:  channel.Target{Account: "default", Conversation: "anna"},
			Inbound: channel.Inbound{Chat: channel.Direct, Conversation: "anna", SenderID: "anna"},
			Skip:    map[loopback.Kind]string{},
		}
	})
}

// TestKind: what it says of itself is complete and true.
func TestKind(t *testing.T) {
	channeltest.Kind(t, postbox.Kind(), account("http://127.0.0.1:1"), []string{"group-family"}, []string{"anna"})
}

func account(server string) channel.Account {
	return channel.Account{ID: "default", Secrets: map[string]string{"token": "pb-secret"}, Texts: map[string]string{"server": server}}
}

type letter struct {
	ID   string `json:"id"`
	Chat string `json:"chat"`
	From string `json:"from"`
	Text string `json:"text"`
	Key  string `json:"key"`
}

// postOffice is Postbox's server over a network in memory, which holds what was
// said and fails as the suite tells it to.
func postOffice(net *loopback.Net) http.Handler {
	box := net.Channel("postbox", "default", channel.Limits{Text: 500})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /letters", func(w http.ResponseWriter, r *http.Request) {
		var l letter
		if json.NewDecoder(r.Body).Decode(&l) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		receipt, err := box.Send(r.Context(), channel.Message{To: channel.Target{Conversation: l.Chat}, Text: l.Text, Key: l.Key})
		if err != nil {
			fail(w, err)
			return
		}
		_ = json.NewEncoder(w).Encode(letter{ID: receipt.MessageID})
	})
	mux.HandleFunc("GET /letters", func(w http.ResponseWriter, r *http.Request) {
		var letters []letter
		first(r.Context(), box, func(in channel.Inbound) error {
			letters = append(letters, letter{ID: in.MessageID, Chat: in.Conversation, From: in.SenderID, Text: in.Text})
			return errors.New("it stays in the box")
		})
		_ = json.NewEncoder(w).Encode(letters)
	})
	mux.HandleFunc("DELETE /letters/{id}", func(_ http.ResponseWriter, r *http.Request) {
		first(r.Context(), box, func(in channel.Inbound) error {
			if in.MessageID != r.PathValue("id") {
				return errors.New("it is another one")
			}
			return nil
		})
	})
	return mux
}

// first waits for the first letter of the box.
func first(ctx context.Context, box *loopback.Channel, do func(channel.Inbound) error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	_ = box.Run(ctx, func(_ context.Context, in channel.Inbound) error {
		stop()
		return do(in)
	})
}

func fail(w http.ResponseWriter, err error) {
	var limited *channel.RateLimit
	switch {
	case errors.Is(err, channel.ErrUncertain):
		panic(http.ErrAbortHandler) // the connection breaks
	case errors.As(err, &limited):
		w.Header().Set("Retry-After", strconv.Itoa(int(limited.After.Seconds())))
		w.WriteHeader(http.StatusTooManyRequests)
	case errors.Is(err, channel.ErrAuth):
		w.WriteHeader(http.StatusUnauthorized)
	case errors.Is(err, channel.ErrRefused):
		w.WriteHeader(http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}
