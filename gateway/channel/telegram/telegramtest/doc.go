// Package telegramtest is a Bot API server for tests. It checks what Telegram
// checks (token, parameters, lengths, HTML, chats, topics, edits, reactions,
// rates, offsets, one poller at a time) and fails on demand. Its network is in
// memory, so tests run in a testing/synctest bubble. It is not a complete Bot
// API: a method that Hearth does not use is unknown to it.
package telegramtest
