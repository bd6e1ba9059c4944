package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
)

// stores are what whatsmeow keeps of the linked device: its keys and sessions, which
// only ever go on. It implements store.AllStores and store.DeviceContainer.
type stores struct{ k *kept }

func (s *stores) put(ctx context.Context, name string, v []byte) error {
	return s.k.change(ctx, changes{name: v})
}

// drop removes the values whose names begin with something.
func (s *stores) drop(ctx context.Context, prefix string) error {
	gone := changes{}
	for rest := range s.k.below(prefix) {
		gone[prefix+rest] = nil
	}
	return s.k.change(ctx, gone)
}

func (s *stores) PutIdentity(ctx context.Context, address string, key [32]byte) error {
	return s.put(ctx, "identity/"+address, key[:])
}

func (s *stores) DeleteAllIdentities(ctx context.Context, phone string) error {
	return s.drop(ctx, "identity/"+phone+":")
}

func (s *stores) DeleteIdentity(ctx context.Context, address string) error {
	return s.put(ctx, "identity/"+address, nil)
}

// IsTrustedIdentity: the first key that an address has is trusted, and no other one.
func (s *stores) IsTrustedIdentity(_ context.Context, address string, key [32]byte) (bool, error) {
	known := s.k.get("identity/" + address)
	return known == nil || string(known) == string(key[:]), nil
}

func (s *stores) GetSession(_ context.Context, address string) ([]byte, error) {
	return s.k.get("session/" + address), nil
}

func (s *stores) HasSession(_ context.Context, address string) (bool, error) {
	return s.k.get("session/"+address) != nil, nil
}

func (s *stores) GetManySessions(_ context.Context, addresses []string) (map[string][]byte, error) {
	out := make(map[string][]byte, len(addresses))
	for _, a := range addresses {
		out[a] = s.k.get("session/" + a)
	}
	return out, nil
}

func (s *stores) PutSession(ctx context.Context, address string, session []byte) error {
	return s.put(ctx, "session/"+address, session)
}

func (s *stores) PutManySessions(ctx context.Context, sessions map[string][]byte) error {
	c := changes{}
	for address, session := range sessions {
		c["session/"+address] = session
	}
	return s.k.change(ctx, c)
}

func (s *stores) DeleteAllSessions(ctx context.Context, phone string) error {
	return s.drop(ctx, "session/"+phone+":")
}

func (s *stores) DeleteSession(ctx context.Context, address string) error {
	return s.put(ctx, "session/"+address, nil)
}

// MigratePNToLID moves what is known of somebody by their phone number to the number
// that WhatsApp gave them; what is there already stays.
func (s *stores) MigratePNToLID(ctx context.Context, pn, lid types.JID) error {
	from, to := pn.SignalAddressUser()+":", lid.SignalAddressUser()+":"
	c := changes{}
	for _, kind := range []string{"session/", "identity/"} {
		for device, v := range s.k.below(kind + from) {
			c[kind+from+device] = nil
			c[kind+to+device] = v
		}
	}
	for rest, v := range s.k.below("sender/") {
		group, user, _ := strings.Cut(rest, "\x00")
		if device, ok := strings.CutPrefix(user, from); ok {
			c["sender/"+rest] = nil
			c["sender/"+group+"\x00"+to+device] = v
		}
	}
	return s.k.change(ctx, c)
}

// preKey is one as it is kept: whether it was uploaded, and the key.
func preKey(id uint32, v []byte) *keys.PreKey {
	if len(v) != 33 {
		return nil
	}
	return &keys.PreKey{KeyPair: *keys.NewKeyPairFromPrivateKey([32]byte(v[1:])), KeyID: id}
}

func preKeyName(id uint32) string { return fmt.Sprintf("prekey/%010d", id) }

// newPreKeys makes keys whose numbers were never used.
func (s *stores) newPreKeys(ctx context.Context, count int, uploaded byte) ([]*keys.PreKey, error) {
	last := uint32(0)
	if b := s.k.get("prekey-last"); len(b) == 4 {
		last = binary.BigEndian.Uint32(b)
	}
	c, out := changes{}, make([]*keys.PreKey, count)
	for i := range out {
		last++
		out[i] = keys.NewPreKey(last)
		c[preKeyName(last)] = append([]byte{uploaded}, out[i].Priv[:]...)
	}
	c["prekey-last"] = binary.BigEndian.AppendUint32(nil, last)
	return out, s.k.change(ctx, c)
}

func (s *stores) GenOnePreKey(ctx context.Context) (*keys.PreKey, error) {
	out, err := s.newPreKeys(ctx, 1, 1)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

func (s *stores) GetOrGenPreKeys(ctx context.Context, count uint32) ([]*keys.PreKey, error) {
	var out []*keys.PreKey
	all := s.k.below("prekey/")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		id, err := strconv.ParseUint(name, 10, 32)
		if one := preKey(uint32(id), all[name]); err == nil && one != nil && all[name][0] == 0 && len(out) < int(count) {
			out = append(out, one)
		}
	}
	more, err := s.newPreKeys(ctx, int(count)-len(out), 0)
	return append(out, more...), err
}

func (s *stores) GetPreKey(_ context.Context, id uint32) (*keys.PreKey, error) {
	return preKey(id, s.k.get(preKeyName(id))), nil
}

func (s *stores) RemovePreKey(ctx context.Context, id uint32) error {
	return s.put(ctx, preKeyName(id), nil)
}

func (s *stores) MarkPreKeysAsUploaded(ctx context.Context, upToID uint32) error {
	c := changes{}
	for name, v := range s.k.below("prekey/") {
		if id, err := strconv.ParseUint(name, 10, 32); err == nil && uint32(id) <= upToID && len(v) == 33 && v[0] == 0 {
			c["prekey/"+name] = append([]byte{1}, v[1:]...)
		}
	}
	return s.k.change(ctx, c)
}

func (s *stores) UploadedPreKeyCount(context.Context) (n int, _ error) {
	for _, v := range s.k.below("prekey/") {
		if len(v) == 33 && v[0] == 1 {
			n++
		}
	}
	return n, nil
}

func (s *stores) PutSenderKey(ctx context.Context, group, user string, session []byte) error {
	return s.put(ctx, "sender/"+group+"\x00"+user, session)
}

func (s *stores) GetSenderKey(_ context.Context, group, user string) ([]byte, error) {
	return s.k.get("sender/" + group + "\x00" + user), nil
}

func (s *stores) keep(ctx context.Context, name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("keep %s: %w", name, err)
	}
	return s.put(ctx, name, b)
}

// find reads a value that keep wrote; false: there is none.
func (s *stores) find(name string, v any) (bool, error) {
	b := s.k.get(name)
	if b == nil {
		return false, nil
	}
	if err := json.Unmarshal(b, v); err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	return true, nil
}

func (s *stores) PutAppStateSyncKey(ctx context.Context, id []byte, key store.AppStateSyncKey) error {
	return s.keep(ctx, "appkey/"+hex.EncodeToString(id), key)
}

func (s *stores) GetAppStateSyncKey(_ context.Context, id []byte) (*store.AppStateSyncKey, error) {
	var key store.AppStateSyncKey
	ok, err := s.find("appkey/"+hex.EncodeToString(id), &key)
	if !ok {
		return nil, err
	}
	return &key, nil
}

func (s *stores) GetLatestAppStateSyncKeyID(context.Context) (id []byte, err error) {
	latest := int64(-1)
	for name := range s.k.below("appkey/") {
		var key store.AppStateSyncKey
		if _, err := s.find("appkey/"+name, &key); err != nil {
			return nil, err
		}
		if key.Timestamp > latest {
			latest = key.Timestamp
			if id, err = hex.DecodeString(name); err != nil {
				return nil, fmt.Errorf("read the name of a key: %w", err)
			}
		}
	}
	return id, nil
}

func (s *stores) GetAllAppStateSyncKeys(context.Context) (out []*store.AppStateSyncKey, err error) {
	for name := range s.k.below("appkey/") {
		var key store.AppStateSyncKey
		if _, err := s.find("appkey/"+name, &key); err != nil {
			return nil, err
		}
		out = append(out, &key)
	}
	return out, nil
}

// known is how far a part of the account's state is known.
type known struct {
	Version uint64
	Hash    []byte
}

func (s *stores) PutAppStateVersion(ctx context.Context, name string, v uint64, hash [128]byte) error {
	return s.keep(ctx, "appversion/"+name, known{v, hash[:]})
}

func (s *stores) GetAppStateVersion(_ context.Context, name string) (v uint64, hash [128]byte, err error) {
	var was known
	_, err = s.find("appversion/"+name, &was)
	copy(hash[:], was.Hash)
	return was.Version, hash, err
}

func (s *stores) DeleteAppStateVersion(ctx context.Context, name string) error {
	if err := s.drop(ctx, "appmac/"+name+"/"); err != nil {
		return err
	}
	return s.put(ctx, "appversion/"+name, nil)
}

func (s *stores) PutAppStateMutationMACs(ctx context.Context, name string, _ uint64, all []store.AppStateMutationMAC) error {
	c := changes{}
	for _, m := range all {
		c["appmac/"+name+"/"+hex.EncodeToString(m.IndexMAC)] = m.ValueMAC
	}
	return s.k.change(ctx, c)
}

func (s *stores) DeleteAppStateMutationMACs(ctx context.Context, name string, all [][]byte) error {
	c := changes{}
	for _, mac := range all {
		c["appmac/"+name+"/"+hex.EncodeToString(mac)] = nil
	}
	return s.k.change(ctx, c)
}

func (s *stores) GetAppStateMutationMAC(_ context.Context, name string, mac []byte) ([]byte, error) {
	return s.k.get("appmac/" + name + "/" + hex.EncodeToString(mac)), nil
}

func (s *stores) PutManyLIDMappings(ctx context.Context, all []store.LIDMapping) error {
	c := changes{}
	for _, m := range all {
		c["lid/"+m.LID.User], c["pn/"+m.PN.User] = []byte(m.PN.User), []byte(m.LID.User)
	}
	return s.k.change(ctx, c)
}

func (s *stores) PutLIDMapping(ctx context.Context, lid, pn types.JID) error {
	if lid.Server != types.HiddenUserServer || pn.Server != types.DefaultUserServer {
		return fmt.Errorf("keep that %s is %s: these are no such names", lid, pn)
	}
	return s.PutManyLIDMappings(ctx, []store.LIDMapping{{LID: lid, PN: pn}})
}

func (s *stores) GetPNForLID(_ context.Context, lid types.JID) (types.JID, error) {
	return s.other("lid/", lid, types.DefaultUserServer), nil
}

func (s *stores) GetLIDForPN(_ context.Context, pn types.JID) (types.JID, error) {
	return s.other("pn/", pn, types.HiddenUserServer), nil
}

func (s *stores) other(kind string, of types.JID, server string) types.JID {
	user := s.k.get(kind + of.User)
	if user == nil {
		return types.JID{}
	}
	return types.JID{User: string(user), Device: of.Device, Server: server}
}

func (s *stores) GetManyLIDsForPNs(_ context.Context, pns []types.JID) (map[types.JID]types.JID, error) {
	out := map[types.JID]types.JID{}
	for _, pn := range pns {
		if lid := s.other("pn/", pn, types.HiddenUserServer); !lid.IsEmpty() {
			out[pn] = lid
		}
	}
	return out, nil
}

// buffered is a message that was decrypted and may not be taken yet: it cannot be
// decrypted twice.
type buffered struct {
	Text             []byte
	Inserted, Server time.Time
}

func (s *stores) GetBufferedEvent(_ context.Context, hash [32]byte) (*store.BufferedEvent, error) {
	var b buffered
	ok, err := s.find("came/"+hex.EncodeToString(hash[:]), &b)
	if !ok {
		return nil, err
	}
	return &store.BufferedEvent{Plaintext: b.Text, InsertTime: b.Inserted, ServerTime: b.Server}, nil
}

func (s *stores) PutBufferedEvent(ctx context.Context, hash [32]byte, text []byte, server time.Time) error {
	return s.keep(ctx, "came/"+hex.EncodeToString(hash[:]), buffered{text, time.Now(), server})
}

func (s *stores) DoDecryptionTxn(ctx context.Context, do func(context.Context) error) error {
	return s.k.group(ctx, do)
}

func (s *stores) ClearBufferedEventPlaintext(ctx context.Context, hash [32]byte) error {
	var b buffered
	name := "came/" + hex.EncodeToString(hash[:])
	if ok, err := s.find(name, &b); !ok {
		return err
	}
	b.Text = nil
	return s.keep(ctx, name, b)
}

// DeleteOldBufferedHashes: WhatsApp keeps messages for 14 days.
func (s *stores) DeleteOldBufferedHashes(ctx context.Context) error {
	c := changes{}
	for name := range s.k.below("came/") {
		var b buffered
		if _, err := s.find("came/"+name, &b); err != nil || time.Since(b.Inserted) > 14*24*time.Hour {
			c["came/"+name] = nil
		}
	}
	return s.k.change(ctx, c)
}
