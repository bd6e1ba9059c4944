package main

import (
	"context"
	"log/slog"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"
	"google.golang.org/protobuf/proto"
)

// network is WhatsApp, as far as the account uses it.
type network interface {
	// Connect begins to receive; handle is told everything, one after the other, and
	// says whether it is taken. What is not is brought again after the next Connect.
	Connect(ctx context.Context, handle func(event any) bool) error
	Disconnect()
	// Logout takes this device off the phone and forgets its keys.
	Logout(ctx context.Context) error
	Self() (number, hidden types.JID) // empty while it is not linked
	// Codes are what is scanned to link it, before Connect; it ends with the linking.
	Codes(ctx context.Context) (<-chan whatsmeow.QRChannelItem, error)
	// Code is what is typed into the phone of a number to link it, after Connect.
	Code(ctx context.Context, number string) (string, error)
	Send(ctx context.Context, to types.JID, m *waE2E.Message, id string) error
	Upload(ctx context.Context, data []byte, kind whatsmeow.MediaType) (whatsmeow.UploadResponse, error)
	Download(ctx context.Context, m whatsmeow.DownloadableMessage) ([]byte, error)
	Composing(ctx context.Context, to types.JID) error
	Read(ctx context.Context, id string, chat, sender types.JID) error
	Group(ctx context.Context, id types.JID) (name string, err error)
}

// real is the network of whatsmeow.
type real struct {
	*whatsmeow.Client
}

// openReal opens the linked device that is kept, or one that can be linked.
func openReal(k *kept, log *slog.Logger) (network, error) {
	own := logger{log}
	store.SetOSInfo("Hearth", [3]uint32{1, 0, 0})
	store.DeviceProps.PlatformType = waCompanionReg.DeviceProps_DESKTOP.Enum()
	store.DeviceProps.RequireFullSync = proto.Bool(false)
	d, err := openDevice(k, own)
	if err != nil {
		return nil, err
	}
	c := whatsmeow.NewClient(d, own)
	c.SynchronousAck, c.EnableDecryptedEventBuffer = true, true
	c.ManualHistorySyncDownload = true // what was said before it was linked is nobody's order
	return real{c}, nil
}

func (r real) Connect(ctx context.Context, handle func(any) bool) error {
	r.AddEventHandlerWithSuccessStatus(handle)
	return r.ConnectContext(ctx)
}

func (r real) Self() (number, hidden types.JID) {
	return r.Store.GetJID().ToNonAD(), r.Store.GetLID().ToNonAD()
}

func (r real) Codes(ctx context.Context) (<-chan whatsmeow.QRChannelItem, error) {
	return r.GetQRChannel(ctx)
}

func (r real) Code(ctx context.Context, number string) (string, error) {
	return r.PairPhone(ctx, number, true, whatsmeow.PairClientChrome, "Chrome (Linux)") // other names are refused
}

// answerTime is how long WhatsApp may take to confirm a message.
const answerTime = 45 * time.Second

func (r real) Send(ctx context.Context, to types.JID, m *waE2E.Message, id string) error {
	_, err := r.SendMessage(ctx, to, m, whatsmeow.SendRequestExtra{ID: id, Timeout: answerTime})
	return err
}

func (r real) Composing(ctx context.Context, to types.JID) error {
	return r.SendChatPresence(ctx, to, types.ChatPresenceComposing, types.ChatPresenceMediaText)
}

func (r real) Read(ctx context.Context, id string, chat, sender types.JID) error {
	return r.MarkRead(ctx, []types.MessageID{id}, time.Now(), chat, sender)
}

func (r real) Group(ctx context.Context, id types.JID) (string, error) {
	g, err := r.GetGroupInfo(ctx, id)
	if err != nil {
		return "", err
	}
	return g.Name, nil
}

// logger writes what whatsmeow says. Its lower levels name people and what they wrote.
type logger struct{ log *slog.Logger }

func (l logger) Errorf(msg string, args ...any) { l.log.Error("whatsmeow: " + format(msg, args)) }
func (l logger) Warnf(msg string, args ...any)  { l.log.Warn("whatsmeow: " + format(msg, args)) }
func (logger) Infof(string, ...any)             {}
func (logger) Debugf(string, ...any)            {}
func (l logger) Sub(string) waLog.Logger        { return l }
