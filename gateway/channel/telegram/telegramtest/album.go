package telegramtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// sendAlbum checks a media group as Telegram does: 2 to 10 files that may stand
// together, all taken or none.
func (s *Server) sendAlbum(p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p["reply_markup"] != nil {
		return nil, bad("reply markup can't be used in media groups") // Telegram ignores it; nobody means that
	}
	items, err := albumItems(p)
	if err != nil {
		return nil, err
	}
	c, _, err := s.chat(p, true)
	if err != nil {
		return nil, err
	}
	messages := make([]*Message, len(items))
	for i, item := range items {
		m, err := s.albumFile(p, item)
		if err == nil {
			_, _, err = formatted(item, "caption", 1024)
		}
		if err != nil {
			return nil, bad("failed to send message #%d with the error message \"%s\"", i+1, strings.TrimPrefix(err.Error(), "Bad Request: "))
		}
		messages[i] = m
	}
	for range items[1:] { // each counts
		if after := s.overRate(c.ID); after > 0 {
			return nil, &refusal{code: http.StatusTooManyRequests, text: "Too Many Requests: retry after " + strconv.Itoa(after), retryAfter: after}
		}
	}
	s.albums++
	var out []any
	for i, m := range messages {
		item := map[string]any{"caption": items[i]["caption"], "parse_mode": items[i]["parse_mode"]}
		for _, key := range []string{"chat_id", "message_thread_id", "reply_parameters", "business_connection_id",
			"disable_notification"} {
			item[key] = p[key]
		}
		m.Album = "album" + strconv.Itoa(s.albums)
		sent, err := s.post("sendMediaGroup", item, "caption", 1024, m)
		if err != nil {
			return nil, err
		}
		out = append(out, sent)
	}
	return out, nil
}

func albumItems(p map[string]any) (items []map[string]any, err error) {
	d := json.NewDecoder(strings.NewReader(str(p, "media")))
	d.UseNumber()
	if err := d.Decode(&items); err != nil {
		return nil, bad("can't parse media JSON object")
	}
	if len(items) < 2 || len(items) > 10 {
		return nil, bad("there must be 2 to 10 files in a media group")
	}
	of := func(item map[string]any) string {
		switch kind := str(item, "type"); kind {
		case "photo", "video":
			return "seen"
		case "audio", "document":
			return kind
		}
		return ""
	}
	for _, item := range items {
		switch group := of(item); {
		case group == "":
			return nil, bad("type of file can't be used in a media group")
		case group != of(items[0]):
			return nil, bad("%s can't be mixed with other media types", group)
		}
	}
	return items, nil
}

// albumFile is the file of an item; the lock is held.
func (s *Server) albumFile(p, item map[string]any) (*Message, error) {
	media := str(item, "media")
	name, attached := strings.CutPrefix(media, "attach://")
	if !attached {
		u, err := url.Parse(media)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			return nil, bad("wrong remote file identifier specified: Wrong character in the string")
		}
		return &Message{FileURL: media}, nil
	}
	f, ok := p[name].(File)
	if !ok {
		return nil, bad("there is no %s in the request", name)
	}
	return &Message{File: &f}, upload(str(item, "type"), f)
}
