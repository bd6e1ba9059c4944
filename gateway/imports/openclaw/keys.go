package openclaw

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/sqlite"
)

// profiles are the accounts of an agent at model services.
type profiles struct {
	Profiles map[string]struct {
		Type     string `json:"type"`
		Provider string `json:"provider"`
		Key      string `json:"key"`
		Token    string `json:"token"`
		KeyRef   any    `json:"keyRef"`
		TokenRef any    `json:"tokenRef"`
	} `json:"profiles"`
}

// readKeys hands over the keys of model services, which lie with each agent.
func (h *home) readKeys(ctx context.Context) error {
	if err := h.rows("auth_profile_stores", h.keyRow); err != nil {
		return err
	}
	for _, agent := range h.agents(h.t) {
		if raw, err := h.t.Read("agents/"+agent+"/agent/auth-profiles.json", maxSettings); err == nil {
			if err := h.keys(raw); err != nil {
				return err
			}
		}
		name := "agents/" + agent + "/" + h.Agent
		if h.Agent == "" || !h.t.Has(name) {
			continue
		}
		db, closeDB, err := h.t.Database(ctx, name)
		if err != nil {
			continue // told with the chats, which are in it too
		}
		if db.Table("auth_profile_store") != nil {
			err = each(db, "auth_profile_store", h.keyRow)
		}
		closeDB()
		if err != nil {
			return err
		}
	}
	return h.variables()
}

// variables hands over what stands in variables that the program reads by itself, as it
// does with keys of model services; those that the settings refer to come with them. Of
// the file .env, which may hold anything, only what is called a key.
func (h *home) variables() error {
	for _, name := range slices.Sorted(maps.Keys(h.env)) {
		value, own := h.own[name], true
		if value == "" {
			value, own = h.env[name], false
		}
		value = h.spelled(value)
		referred := strings.Contains(h.text, "${"+name+"}") || strings.Contains(h.text, `"id":"`+name+`"`)
		if referred || value == "" || h.has["secret:"+value] || !own && !strings.HasSuffix(name, "_API_KEY") {
			continue
		}
		k := &imports.Key{Variable: name, Account: "imported", Secret: value}
		if err := h.give(imports.Item{Kind: imports.Keys, ID: "env." + name, Name: "env." + name, Key: k}); err != nil {
			return err
		}
	}
	return nil
}

func (h *home) keyRow(r *sqlite.Row) error { return h.keys([]byte(r.Text("store_json"))) }

func (h *home) keys(raw []byte) error {
	var p profiles
	if json.Unmarshal(raw, &p) != nil {
		return nil //nolint:nilerr // of a version that keeps them otherwise; `hearth models auth add` takes them by hand
	}
	for _, id := range slices.Sorted(maps.Keys(p.Profiles)) {
		a := p.Profiles[id]
		if h.has["key:"+id] {
			continue
		}
		h.has["key:"+id] = true
		provider, account, _ := strings.Cut(id, ":")
		k := &imports.Key{
			Provider: cmp.Or(a.Provider, provider), Account: account, Secret: h.spelled(cmp.Or(a.Key, a.Token)), Token: a.Type == "token",
		}
		h.has["secret:"+k.Secret] = true
		it := imports.Item{Kind: imports.Keys, ID: id, Name: id, Key: k}
		switch {
		case a.Type == "oauth":
			it.Key, it.Why = nil, "a login belongs to the program that made it: run `hearth models auth login "+k.Provider+"`"
		case k.Secret == "":
			it.Key, it.Why = nil, "the key is not written there, only where it is"
		}
		if err := h.give(it); err != nil {
			return err
		}
	}
	return nil
}

// spelled is a key whose variable is set beside the settings.
func (h *home) spelled(key string) string {
	if name, ok := strings.CutPrefix(key, "${"); ok && strings.HasSuffix(name, "}") {
		return h.env[strings.TrimSuffix(name, "}")]
	}
	return key
}
