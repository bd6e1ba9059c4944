package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

const ourNumber = "+4915112345678"

var (
	ada  = types.NewJID("491701234567", types.DefaultUserServer)
	town = types.NewJID("120363000000000001", types.GroupServer)
	us   = types.NewJID("4915112345678", types.DefaultUserServer)
	ourL = types.NewJID("99887766554433", types.HiddenUserServer)
)

// fake is WhatsApp as whatsmeow shows it: what is not taken comes again after the next
// connect, and files are what was brought before.
type fake struct {
	mu       sync.Mutex
	linked   bool
	logout   error // what it says to the end of the login
	handle   func(any) bool
	pumping  sync.Mutex
	line     sync.Mutex // of events, which come one after the other
	waiting  []*events.Message
	taken    map[string]bool
	sent     []*shown
	files    map[string][]byte
	faults   []loopback.Fault
	codes    chan whatsmeow.QRChannelItem
	typed    []string
	composed []string
	read     []string
	asked    int // of groups
	count    int
}

// shown is a message of ours as people see it.
type shown struct {
	id, to, text string
	files        []loopback.File
	emoji        map[string]string
	gone         bool
	quoted       string
	at           time.Time
}

func newFake() *fake {
	return &fake{linked: true, taken: map[string]bool{}, files: map[string][]byte{}}
}

func (f *fake) open(*kept, *slog.Logger) (network, error) { return f, nil }

func (f *fake) Connect(_ context.Context, handle func(any) bool) error {
	f.mu.Lock()
	f.handle = handle
	linked := f.linked
	f.mu.Unlock()
	if linked {
		go func() {
			f.event(&events.Connected{})
			f.pump()
		}()
	}
	return nil
}

func (f *fake) Disconnect() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handle = nil
}

func (f *fake) Logout(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.logout != nil {
		return f.logout
	}
	f.linked, f.handle = false, nil
	return nil
}

func (f *fake) Self() (number, hidden types.JID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.linked {
		return types.JID{}, types.JID{}
	}
	return us, ourL
}

func (f *fake) Codes(context.Context) (<-chan whatsmeow.QRChannelItem, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.codes = make(chan whatsmeow.QRChannelItem, 8)
	return f.codes, nil
}

func (f *fake) Code(_ context.Context, number string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.typed = append(f.typed, number)
	return "ABCD-1234", nil
}

// event tells the account something, as whatsmeow does: one after the other.
func (f *fake) event(e any) bool {
	f.line.Lock()
	defer f.line.Unlock()
	f.mu.Lock()
	handle := f.handle
	f.mu.Unlock()
	return handle != nil && handle(e)
}

// beside is an event beside the one that is worked on.
func (f *fake) beside(e any) bool {
	f.mu.Lock()
	handle := f.handle
	f.mu.Unlock()
	return handle != nil && handle(e)
}

// pump brings what waits, in its order; what is not taken stays, and all behind it.
func (f *fake) pump() {
	f.pumping.Lock()
	defer f.pumping.Unlock()
	for {
		f.mu.Lock()
		var m *events.Message
		if f.handle != nil && len(f.waiting) > 0 {
			m = f.waiting[0]
		}
		f.mu.Unlock()
		if m == nil || !f.event(m) {
			return
		}
		f.mu.Lock()
		f.taken[m.Info.ID] = true
		f.waiting = f.waiting[1:]
		f.mu.Unlock()
	}
}

func (f *fake) fault(op loopback.Op) (before, after error) {
	i := slices.IndexFunc(f.faults, func(x loopback.Fault) bool { return x.On == op || x.On == loopback.OpAny })
	if i < 0 {
		return nil, nil
	}
	x := f.faults[i]
	f.faults = slices.Delete(f.faults, i, i+1)
	switch x.Kind {
	case loopback.Passing:
		return errors.New("failed to get device list: info query returned status 503"), nil
	case loopback.Refused:
		return fmt.Errorf("%w 479", whatsmeow.ErrServerReturnedError), nil
	case loopback.Lost:
		return nil, fmt.Errorf("%w", whatsmeow.ErrMessageTimedOut)
	case loopback.Broken:
		return &whatsmeow.DisconnectedError{Action: "message send"}, nil
	}
	return nil, nil
}

func (f *fake) Send(ctx context.Context, to types.JID, m *waE2E.Message, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	edit := m.GetEditedMessage().GetMessage().GetProtocolMessage()
	op := loopback.OpSend
	if edit != nil {
		op = loopback.OpEdit
	}
	before, after := f.fault(op)
	if before != nil {
		return before
	}
	if !strings.HasPrefix(id, "3EB0") || len(id) != 22 {
		return fmt.Errorf("%w 400: the id %q", whatsmeow.ErrServerReturnedError, id)
	}
	switch {
	case edit != nil:
		if s := f.find(edit.GetKey(), to); s != nil && time.Since(s.at) < whatsmeow.EditWindow {
			s.text, _ = textOf(edit.GetEditedMessage())
		}
	case m.GetProtocolMessage().GetType() == waE2E.ProtocolMessage_REVOKE && m.GetProtocolMessage() != nil:
		if s := f.find(m.GetProtocolMessage().GetKey(), to); s != nil {
			s.gone = true
		}
	case m.GetReactionMessage() != nil:
		if s := f.find(m.GetReactionMessage().GetKey(), to); s != nil {
			s.emoji = map[string]string{"us": m.GetReactionMessage().GetText()}
		}
	default:
		if slices.ContainsFunc(f.sent, func(s *shown) bool { return s.id == id }) {
			return after // phones show a message once
		}
		s := &shown{id: id, to: to.String(), at: time.Now()}
		s.text, s.quoted = textOf(m)
		if d := fileIn(m); d != nil {
			content, ok := f.files[d.GetDirectPath()]
			if sum := sha256.Sum256(content); !ok || string(d.GetFileSHA256()) != string(sum[:]) {
				return fmt.Errorf("%w 415: no such file", whatsmeow.ErrServerReturnedError)
			}
			s.files = []loopback.File{{Name: m.GetDocumentMessage().GetFileName(), MIME: "x", Content: content}}
		}
		f.sent = append(f.sent, s)
	}
	return after
}

func (f *fake) find(k *waCommon.MessageKey, to types.JID) *shown {
	for _, s := range f.sent {
		if k.GetFromMe() && s.id == k.GetID() && s.to == to.String() && k.GetRemoteJID() == s.to {
			return s
		}
	}
	return nil
}

func textOf(m *waE2E.Message) (words, quoted string) {
	switch {
	case m.GetExtendedTextMessage() != nil:
		return m.GetExtendedTextMessage().GetText(), m.GetExtendedTextMessage().GetContextInfo().GetQuotedMessage().GetConversation()
	case m.GetDocumentMessage() != nil:
		return m.GetDocumentMessage().GetCaption(), ""
	case m.GetImageMessage() != nil:
		return m.GetImageMessage().GetCaption(), ""
	}
	return m.GetConversation(), ""
}

func fileIn(m *waE2E.Message) interface {
	GetDirectPath() string
	GetFileSHA256() []byte
} {
	switch {
	case m.GetDocumentMessage() != nil:
		return m.GetDocumentMessage()
	case m.GetImageMessage() != nil:
		return m.GetImageMessage()
	case m.GetAudioMessage() != nil:
		return m.GetAudioMessage()
	}
	return nil
}

func (f *fake) Upload(_ context.Context, data []byte, _ whatsmeow.MediaType) (whatsmeow.UploadResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	at := fmt.Sprintf("/v/file-%d", f.count)
	f.files[at] = data
	sum := sha256.Sum256(data)
	return whatsmeow.UploadResponse{URL: "https://mmg.whatsapp.net" + at, DirectPath: at, MediaKey: make([]byte, 32), FileSHA256: sum[:],
		FileEncSHA256: make([]byte, 32), FileLength: uint64(len(data))}, nil
}

func (f *fake) Download(_ context.Context, m whatsmeow.DownloadableMessage) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.files[m.GetDirectPath()]
	if !ok {
		return nil, whatsmeow.ErrMediaDownloadFailedWith404
	}
	return b, nil
}

func (f *fake) Composing(_ context.Context, to types.JID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.composed = append(f.composed, to.String())
	return nil
}

func (f *fake) Read(_ context.Context, id string, _, _ types.JID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read = append(f.read, id)
	return nil
}

func (f *fake) Group(_ context.Context, id types.JID) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if id != town {
		return "", whatsmeow.ErrGroupNotFound
	}
	return "town", nil
}

// Script implements channeltest.Network.
func (f *fake) Script(faults ...loopback.Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, faults...)
}

// message is one of somebody, as whatsmeow shows it.
func message(id string, m *waE2E.Message) *events.Message {
	return &events.Message{Message: m, Info: types.MessageInfo{
		MessageSource: types.MessageSource{Chat: ada, Sender: ada}, ID: id, PushName: "Ada", Timestamp: time.UnixMilli(time.Now().UnixMilli()),
	}}
}

// Receive implements channeltest.Network.
func (f *fake) Receive(in channel.Inbound) {
	f.say(message(in.MessageID[:strings.Index(in.MessageID, "/")], &waE2E.Message{Conversation: proto.String(in.Text)}))
}

// say is a message that comes, now or when we are connected.
func (f *fake) say(m *events.Message) {
	f.mu.Lock()
	f.waiting = append(f.waiting, m)
	f.mu.Unlock()
	go f.pump()
}

// ReceiveFile implements conformance.FileNetwork.
func (f *fake) ReceiveFile(in channel.Inbound, file loopback.File) {
	up, _ := f.Upload(context.Background(), file.Content, whatsmeow.MediaDocument)
	d := &waE2E.DocumentMessage{DirectPath: proto.String(up.DirectPath), MediaKey: make([]byte, 32), FileSHA256: up.FileSHA256,
		FileLength: proto.Uint64(up.FileLength), Mimetype: proto.String(file.MIME), FileName: proto.String(file.Name),
		Caption:       proto.String(in.Text),
		JPEGThumbnail: make([]byte, 20_000)}
	f.say(message(in.MessageID[:strings.Index(in.MessageID, "/")], &waE2E.Message{DocumentMessage: d}))
}

// Taken implements channeltest.Network.
func (f *fake) Taken(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.taken[id[:strings.Index(id, "/")]]
}

// Messages implements channeltest.Network.
func (f *fake) Messages() (out []loopback.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sent {
		m := loopback.Message{ID: s.id, To: channel.Target{Conversation: "+" + ada.User}, Text: s.text, Files: s.files, Deleted: s.gone}
		if e := s.emoji["us"]; e != "" {
			m.Reactions = []string{e}
		}
		out = append(out, m)
	}
	return out
}
