// Command botapi runs the Bot API server of the Telegram tests in a process of
// its own, for checks that use Hearth from outside. It prints its address on one
// line. Below /_lab/ a check plays the people who write to the bot:
//
//	POST /_lab/chat {"ID":7,"Type":"private"}              a chat that the bot reaches
//	POST /_lab/say  {"chat":7,"from":{"ID":7,"Name":"Ann"},"text":"hi","extra":{}}
//	POST /_lab/file {"id":"p1","name":"a.png","mime":"image/png","data":"<base64>"}
//	GET  /_lab/sent?chat=7                                 what the bot sent there
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on")
	token := flag.String("token", "", "the bot's token")
	flag.Parse()
	if err := run(*addr, *token); err != nil {
		fmt.Fprintln(os.Stderr, "botapi:", err)
		os.Exit(1)
	}
}

func run(addr, token string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", addr, err)
	}
	fmt.Printf("http://%s\n", l.Addr())
	srv := &http.Server{Handler: handler(telegramtest.New(token)), ReadHeaderTimeout: 10 * time.Second}
	return srv.Serve(l)
}

func handler(s *telegramtest.Server) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", s)
	mux.HandleFunc("POST /_lab/chat", asked(func(c telegramtest.Chat) any { s.AddChat(c); return nil }))
	mux.HandleFunc("POST /_lab/say", asked(func(m spoken) any { return s.Say(m.Chat, m.From, m.Text, m.Extra) }))
	mux.HandleFunc("POST /_lab/file", asked(func(f file) any {
		s.AddFile(f.ID, telegramtest.File{Name: f.Name, MIME: f.MIME, Path: "files/" + f.Name, Data: f.Data})
		return nil
	}))
	mux.HandleFunc("GET /_lab/sent", func(w http.ResponseWriter, r *http.Request) {
		chat, err := strconv.ParseInt(r.URL.Query().Get("chat"), 10, 64)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(s.Sent(chat))
	})
	return mux
}

type spoken struct {
	Chat  int64
	From  telegramtest.Person
	Text  string
	Extra map[string]any
}

type file struct {
	ID, Name, MIME string
	Data           []byte
}

// asked serves a request whose body is a T, and answers what do returns.
func asked[T any](do func(T) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var v T
		if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(do(v))
	}
}
