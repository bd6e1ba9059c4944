package dispatch

import (
	"cmp"
	"maps"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
)

// What hooks are told of messages and commands, in the words of OpenClaw's events.

// source is the network of a turn.
func source(turn session.Turn) string {
	if turn.Origin != nil {
		return cmp.Or(turn.Origin.Provider, channel.Webchat)
	}
	return channel.Webchat
}

// commanded tells of /new, /reset or /stop; before is the session as it was.
func (d *Dispatcher) commanded(turn session.Turn, action string, before protocol.SessionRow) {
	facts := map[string]any{"commandSource": source(turn), "senderId": turn.Sender}
	if action == "stop" {
		facts["sessionId"], facts["sessionEntry"] = before.SessionID, Entry(before)
	} else {
		now, _, _ := d.sessions.Get(turn.SessionKey)
		who := d.agents.OfSession(turn.SessionKey)
		facts["agentId"], facts["workspaceDir"], facts["sessionEntry"] = who.ID, who.Workspace, Entry(now)
		if before.SessionID != "" {
			facts["previousSessionEntry"] = Entry(before)
		}
	}
	d.sessions.Happened(session.Happening{
		Type: "command", Action: action, SessionKey: turn.SessionKey, Route: turn.Route, Others: !turn.Owner, Facts: facts,
	})
}

// Entry is a session as hooks are told of it.
func Entry(r protocol.SessionRow) map[string]any {
	return map[string]any{"sessionId": r.SessionID, "updatedAt": r.UpdatedAt}
}

// renewed tells that a session became old and begins anew.
func (d *Dispatcher) renewed(before protocol.SessionRow, now session.Row, rule policy.ResetMode) {
	who := d.agents.OfSession(before.Key)
	d.sessions.Happened(session.Happening{Type: "session", Action: "auto-reset", SessionKey: before.Key, Facts: map[string]any{
		"agentId": who.ID, "workspaceDir": who.Workspace, "sessionEntry": Entry(before), "reason": string(rule),
		"transcriptArchived": true, "nextSessionId": now.SessionID, "nextSessionKey": now.Key,
	}})
}

// received tells of a message that was accepted, as it came and as the assistant
// reads it.
func (d *Dispatcher) received(turn session.Turn) {
	from := session.Origin{From: "owner"}
	if turn.Origin != nil {
		from = *turn.Origin
	}
	group := from.ChatType == string(channel.Group)
	facts := map[string]any{
		"from": from.From, "content": turn.Text, "channelId": source(turn), "timestamp": d.now().UnixMilli(), "accountId": from.AccountID,
		"conversationId": from.To, "messageId": turn.RunID, "metadata": map[string]any{
			"to": from.To, "provider": source(turn), "surface": source(turn), "threadId": from.ThreadID, "senderId": turn.Sender,
			"senderName": from.Label,
		},
	}
	h := session.Happening{
		Type: "message", Action: "received", SessionKey: turn.SessionKey, Route: turn.Route, Others: !turn.Owner || turn.Outside, Facts: facts,
	}
	d.sessions.Happened(h)
	d.transcribed(turn, h)
	h.Action, h.Facts = "preprocessed", map[string]any{
		"from": from.From, "to": from.To, "body": turn.Text, "bodyForAgent": cmp.Or(turn.ForAgent, turn.Text), "channelId": source(turn),
		"timestamp": facts["timestamp"], "conversationId": from.To, "messageId": turn.RunID, "senderId": turn.Sender, "senderName": from.Label,
		"provider": source(turn), "surface": source(turn), "isGroup": group,
	}
	if group {
		h.Facts["groupId"] = from.To
	}
	d.sessions.Happened(h)
}

// transcribed tells of each sound of a message that was written down; h is that the
// message was received.
func (d *Dispatcher) transcribed(turn session.Turn, h session.Happening) {
	received := h.Facts
	for _, s := range turn.Spoken {
		facts := maps.Clone(received)
		delete(facts, "content")
		facts["transcript"], facts["body"], facts["bodyForAgent"] = s.Text, turn.Text, cmp.Or(turn.ForAgent, turn.Text)
		facts["mediaPath"], facts["mediaType"] = s.Path, s.MIME
		h.Action, h.Facts = "transcribed", facts
		d.sessions.Happened(h)
	}
}
