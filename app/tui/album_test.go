package tui

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"sync"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"

	"github.com/hearth-assistant/hearth/app/tui/picture"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// gallery is a gateway with one conversation full of pictures. It may be asked by
// several at once.
type gallery struct {
	history protocol.ChatHistory
	media   map[string][]byte

	mu    sync.Mutex
	asked map[string]int
	fail  error
}

func (g *gallery) Call(_ context.Context, method string, params, result any) error {
	var out any
	switch method {
	case protocol.MethodChatHistory:
		out = g.history
	case protocol.MethodSessionsList:
		out = protocol.SessionsList{Sessions: []protocol.SessionRow{{Key: mainKey, Label: "Pictures"}, {Key: "agent:main:chat:9"}}}
	case protocol.MethodMediaGet:
		id := params.(protocol.MediaGetParams).ID
		g.mu.Lock()
		g.asked[id]++
		err := g.fail
		g.mu.Unlock()
		if err != nil {
			return err
		}
		if g.media[id] == nil {
			return &protocol.Error{Message: "the picture is not kept any more"}
		}
		out = protocol.Media{ID: id, Content: base64.StdEncoding.EncodeToString(g.media[id])}
	default:
		return nil
	}
	raw, err := json.Marshal(out)
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal(raw, result)
}

// painted is a picture in a colour of its own.
func painted(t *testing.T, w, h int, c color.Color) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		img.Set(i%w, i/w, c)
	}
	for i := range min(w, h) { // so that no two rows are the same
		img.Set(i, i, color.Black)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func newGallery(t *testing.T, n int) *gallery {
	g := &gallery{media: map[string][]byte{}, asked: map[string]int{}}
	var msgs []protocol.Message
	for i := range n {
		id := fmt.Sprintf("%064d", i)
		w, h := 60+30*i, 200-12*i
		g.media[id] = painted(t, w, h, color.NRGBA{uint8(40 * i), uint8(200 - 20*i), 99, 255})
		m := user(int64(i)<<16, fmt.Sprint("run", i), fmt.Sprint("Picture ", i), protocol.ReceiptAnswered)
		m.Content = append(m.Content, protocol.Block{Type: protocol.BlockImage, MediaID: id, FileName: fmt.Sprintf("p%d.png", i),
			Width: w, Height: h})
		msgs = append(msgs, m, answer(int64(i)<<16+1, fmt.Sprint("run", i), fmt.Sprintf("I see number %d.\nIt is fine.", i)))
	}
	g.history = page(msgs...)
	return g
}

// with is a bench with pictures, without a canvas.
func withPictures(b *bench, means picture.Means) *bench {
	b.pics = newAlbum(means, picture.Surroundings{}, nil, 1000)
	b.do(uv.PrimaryDeviceAttributesEvent{62})
	return b
}

// drawn lets all work be done that the screen asks for.
func (b *bench) drawn() *shot {
	b.t.Helper()
	for range 50 {
		s := b.shoot()
		cmd := b.look(s.places)
		if cmd == nil {
			return s
		}
		b.run(cmd)
	}
	b.t.Fatal("there is no end to the work on pictures")
	return nil
}

func pictureChat(t *testing.T, b *bench, data []byte) {
	m := user(1, "a", "Look at this", protocol.ReceiptAnswered)
	m.Content = append(m.Content, protocol.Block{Type: protocol.BlockImage, MediaID: "abc", FileName: "sea\x1b[2J.png", Width: 80, Height: 48})
	call := answer(2, "a", "I take one too.")
	call.Content = append(call.Content, protocol.Block{Type: protocol.BlockToolCall, ID: "c1", Name: "nodes",
		Arguments: json.RawMessage(`{}`)})
	b.g.history[mainKey] = page(m, call, protocol.Message{Role: protocol.MessageToolResult, ToolCallID: "c1",
		Content: protocol.TextBlocks("taken"), Meta: &protocol.MessageMeta{ID: "r1", Seq: 3, RunID: "a"},
		Details: json.RawMessage(`{"media":[{"type":"image","mediaId":"abc","width":80,"height":48,"fileName":"Phone, camera"},{"type":"x"}]}`)})
	b.g.media = map[string][]byte{"abc": data}
}

func TestGoldenPictures(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 80, 48))
	for i := range 80 * 48 {
		img.Set(i%80, i/80, color.NRGBA{uint8(i % 80 * 3), uint8(i / 80 * 5), 128, 255})
	}
	var data bytes.Buffer
	if err := png.Encode(&data, img); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		means picture.Means
	}{{"off", picture.Off}, {"blocks", picture.Blocks}, {"kitty", picture.Kitty}} {
		b := newBench(t, 60, 24)
		pictureChat(t, b, data.Bytes())
		withPictures(b.connect(), c.means)
		s := b.drawn()
		var out strings.Builder
		for _, l := range s.lines {
			out.WriteString(strings.ReplaceAll(strings.TrimRight(l, " "), "\x1b", "␛") + "\n")
		}
		golden(t, "pictures-"+c.name+".txt", out.String())
	}
}

func TestPicturesThatCannotBeShown(t *testing.T) {
	b := newBench(t, 80, 30)
	pictureChat(t, b, []byte("no picture"))
	withPictures(b.connect(), picture.Kitty)
	b.drawn()
	b.wants("[picture sea.png, 80×48, not shown: this is no PNG, JPEG, GIF or WebP]")

	b = newBench(t, 80, 30)
	pictureChat(t, b, nil)
	b.g.fail[protocol.MethodMediaGet] = &protocol.Error{Message: "the picture is not kept any more"}
	withPictures(b.connect(), picture.Kitty)
	b.drawn()
	b.wants("not shown: the picture is not kept any more]")
}

// A picture that was asked for while the connection went is asked for again, once
// there is one, and not all the time.
func TestPicturesWaitForTheConnection(t *testing.T) {
	b := newBench(t, 80, 30)
	pictureChat(t, b, painted(t, 80, 48, color.White))
	b.g.fail[protocol.MethodMediaGet] = client.ErrLost
	withPictures(b.connect(), picture.Kitty)
	b.drawn()
	for _, p := range b.pics.byNumber {
		if p.failed != "" || p.given {
			t.Errorf("%s is taken for one that cannot be shown: %s", p.name, p.failed)
		}
	}
	if n := strings.Count(strings.Join(b.g.calls, "\n"), protocol.MethodMediaGet); n != 2 {
		t.Errorf("asked %d times for two pictures", n)
	}
	delete(b.g.fail, protocol.MethodMediaGet)
	b.do(lostMsg{client.ErrLost})
	b.connect()
	b.drawn()
	for _, p := range b.pics.byNumber {
		if !p.given {
			t.Errorf("%s was not fetched after the connection came back", p.name)
		}
	}
}

// What all pictures take is bounded; what was not seen for long goes first.
func TestPicturesAreBounded(t *testing.T) {
	b := newBench(t, 80, 30)
	pictureChat(t, b, painted(t, 80, 48, color.White))
	withPictures(b.connect(), picture.Kitty)
	b.drawn()
	for i, p := range []*photo{{number: 1, seen: 1, bytes: albumBytes / 2, given: true},
		{number: 2, seen: 2, bytes: albumBytes, given: true}} {
		b.pics.byNumber[i+1] = p
	}
	b.run(b.look(b.shoot().places))
	if p := b.pics.byNumber[1]; p.given || p.bytes != 0 {
		t.Error("the picture that was not seen for longest is kept")
	}
	sum := 0
	for _, p := range b.pics.byNumber {
		sum += p.bytes
	}
	if sum > albumBytes {
		t.Errorf("all take %d", sum)
	}
}

type kept struct{ name, data string }

func (k *kept) show(name string, data []byte) error {
	k.name, k.data = name, string(data)
	return nil
}

func TestPictureIsOpened(t *testing.T) {
	data := painted(t, 80, 48, color.White)
	b := newBench(t, 80, 30)
	pictureChat(t, b, data)
	b.connect().keys("alt+o")
	b.wants("No program here shows pictures")
	k := new(kept)
	b.viewer = k
	b.keys("alt+o")
	if k.name != "picture-abc.png" || k.data != string(data) {
		t.Errorf("shown is %q, %d bytes", k.name, len(k.data))
	}
	b.g.media["abc"] = []byte("#!/bin/sh\n")
	b.keys("alt+o")
	b.wants("Could not open the picture: this is no PNG")
}

func TestImagesCommand(t *testing.T) {
	b := newBench(t, 80, 30)
	pictureChat(t, b, painted(t, 80, 48, color.White))
	withPictures(b.connect(), picture.Blocks)
	b.drawn()
	b.wants("▀")
	b.keys("'/images off", "enter")
	b.wants("!▀", "[picture sea.png, 80×48]")
	b.keys("'/images telegraph", "enter")
	b.wants("now by off")
}
