package mattermosttest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// page reads how much is asked for; the real server takes 60 without a word, and at most 200.
func page(r *http.Request) (number, size int) {
	number, _ = strconv.Atoi(r.URL.Query().Get("page"))
	size, _ = strconv.Atoi(r.URL.Query().Get("per_page"))
	if size <= 0 {
		size = 60
	}
	return max(number, 0), min(size, 200)
}

// listed are posts as the API writes a list of them, the newest first.
func listed(found []*Post, number, size int) map[string]any {
	order, posts := []string{}, map[string]*Post{}
	for i := number * size; i < min(len(found), (number+1)*size); i++ {
		order, posts[found[i].ID] = append(order, found[i].ID), found[i]
	}
	return map[string]any{"order": order, "posts": posts, "next_post_id": "", "prev_post_id": ""}
}

// where are the posts for which something holds, the newest first.
func (s *Server) where(holds func(p *Post) bool) (out []*Post) {
	for _, id := range slices.Backward(s.order) {
		if p := s.posts[id]; p.DeleteAt == 0 && holds(p) {
			out = append(out, p)
		}
	}
	return out
}

func (s *Server) history(r *http.Request) (any, *no) {
	c, err := found(s.channels, r)
	if err != nil {
		return nil, err
	}
	if !c.members[s.Bot.ID] {
		return nil, forbidden()
	}
	before := r.URL.Query().Get("before")
	if before != "" && !isID(before) {
		return nil, param("before")
	}
	number, size := page(r)
	all := s.where(func(p *Post) bool { return p.ChannelID == c.ID })
	if before != "" {
		if s.posts[before] == nil {
			return listed(nil, 0, size), nil
		}
		all = slices.DeleteFunc(all, func(p *Post) bool { return p.CreateAt >= s.posts[before].CreateAt })
	}
	return listed(all, number, size), nil
}

func (s *Server) thread(r *http.Request) (any, *no) {
	p, err := s.readable(r)
	if err != nil {
		return nil, err
	}
	root := p.(*Post).ID
	if of := p.(*Post).RootID; of != "" {
		root = of
	}
	all := s.where(func(p *Post) bool { return p.ID == root || p.RootID == root })
	return listed(all, 0, len(all)), nil
}

// search finds posts with all words, in the channels that the bot is in. Words with a
// colon, and such that begin with a minus, mean something else to the real server.
func (s *Server) search(r *http.Request) (any, *no) {
	var in struct {
		Terms   string `json:"terms"`
		Or      *bool  `json:"is_or_search"`
		Zone    int    `json:"time_zone_offset"`
		Deleted bool   `json:"include_deleted_channels"`
		Page    int    `json:"page"`
		Size    int    `json:"per_page"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	words := strings.Fields(strings.ToLower(in.Terms))
	special := func(w string) bool { return strings.Contains(w, ":") || strings.HasPrefix(w, "-") }
	if len(words) == 0 || in.Or == nil || *in.Or || slices.ContainsFunc(words, special) {
		return nil, &no{http.StatusBadRequest, "api.context.invalid_body_param.app_error", "Invalid or missing terms in request body."}
	}
	all := s.where(func(p *Post) bool {
		return s.channels[p.ChannelID].members[s.Bot.ID] && !slices.ContainsFunc(words, func(w string) bool {
			return !strings.Contains(strings.ToLower(p.Message), w)
		})
	})
	out := listed(all, in.Page, min(max(in.Size, 1), 100))
	out["matches"] = nil
	return out, nil
}

func (s *Server) pin(r *http.Request, on bool) (any, *no) {
	p, err := s.readable(r)
	if err != nil {
		return nil, err
	}
	of := p.(*Post)
	if of.DeleteAt != 0 {
		return nil, missing()
	}
	if of.Pinned != on {
		of.Pinned, of.UpdateAt = on, s.tick()
		s.tell("post_edited", map[string]any{"post": written(of)}, of.ChannelID)
	}
	return map[string]string{"status": "OK"}, nil
}
