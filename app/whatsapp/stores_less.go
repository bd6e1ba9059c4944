package main

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

// What follows is not kept: names of people come with their messages, settings of
// chats and the secrets of polls are not used, and a message that a device could not
// read is sent to it again from memory (whatsmeow's), while this program runs.

func (s *stores) PutPushName(context.Context, types.JID, string) (bool, string, error) {
	return false, "", nil
}

func (s *stores) PutBusinessName(context.Context, types.JID, string) (bool, string, error) {
	return false, "", nil
}

func (s *stores) PutContactName(context.Context, types.JID, string, string) error { return nil }

func (s *stores) PutAllContactNames(context.Context, []store.ContactEntry) error { return nil }

func (s *stores) PutManyRedactedPhones(context.Context, []store.RedactedPhoneEntry) error { return nil }

func (s *stores) GetContact(context.Context, types.JID) (types.ContactInfo, error) {
	return types.ContactInfo{}, nil
}

func (s *stores) GetAllContacts(context.Context) (map[types.JID]types.ContactInfo, error) {
	return map[types.JID]types.ContactInfo{}, nil
}

func (s *stores) PutMutedUntil(context.Context, types.JID, time.Time) error { return nil }

func (s *stores) PutPinned(context.Context, types.JID, bool) error { return nil }

func (s *stores) PutArchived(context.Context, types.JID, bool) error { return nil }

func (s *stores) GetChatSettings(context.Context, types.JID) (types.LocalChatSettings, error) {
	return types.LocalChatSettings{}, nil
}

func (s *stores) PutMessageSecrets(context.Context, []store.MessageSecretInsert) error { return nil }

func (s *stores) PutMessageSecret(context.Context, types.JID, types.JID, types.MessageID, []byte) error {
	return nil
}

func (s *stores) GetMessageSecret(context.Context, types.JID, types.JID, types.MessageID) ([]byte, types.JID, error) {
	return nil, types.JID{}, nil
}

func (s *stores) GetOutgoingEvent(context.Context, types.JID, types.JID, types.MessageID) (string, []byte, error) {
	return "", nil, nil
}

func (s *stores) AddOutgoingEvent(context.Context, types.JID, types.MessageID, string, []byte) error {
	return nil
}

func (s *stores) DeleteOldOutgoingEvents(context.Context) error { return nil }

// The tokens without which WhatsApp takes no message to some people, and the salt that
// such are made with.

func (s *stores) PutPrivacyTokens(ctx context.Context, all ...store.PrivacyToken) error {
	return s.k.group(ctx, func(ctx context.Context) error {
		for _, t := range all {
			if err := s.keep(ctx, "token/"+t.User.ToNonAD().String(), t); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *stores) GetPrivacyToken(_ context.Context, user types.JID) (*store.PrivacyToken, error) {
	var t store.PrivacyToken
	ok, err := s.find("token/"+user.ToNonAD().String(), &t)
	if !ok {
		return nil, err
	}
	return &t, nil
}

func (s *stores) DeleteExpiredPrivacyTokens(ctx context.Context, cutoff time.Time) (n int64, err error) {
	c := changes{}
	for name := range s.k.below("token/") {
		var t store.PrivacyToken
		if _, err := s.find("token/"+name, &t); err != nil || t.Timestamp.Before(cutoff) {
			c["token/"+name] = nil
			n++
		}
	}
	return n, s.k.change(ctx, c)
}

func (s *stores) PutNCTSalt(ctx context.Context, salt []byte) error { return s.put(ctx, "salt", salt) }

func (s *stores) GetNCTSalt(context.Context) ([]byte, error) { return s.k.get("salt"), nil }

func (s *stores) DeleteNCTSalt(ctx context.Context) error { return s.put(ctx, "salt", nil) }
