package node

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/hearth-assistant/hearth/app/desktoptest"
	"github.com/hearth-assistant/hearth/app/notify/notifytest"
)

func sessionBus(t *testing.T) (*dbus.Conn, string) {
	t.Helper()
	desktoptest.Need(t, "DBUS_SESSION_BUS_ADDRESS")
	address := os.Getenv("DBUS_SESSION_BUS_ADDRESS")
	c, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, address
}

func TestNotify(t *testing.T) {
	c, address := sessionBus(t)
	daemon, err := notifytest.Start(c, "body-markup", "actions")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(o *Options, _ *Settings) { o.Environ = append(o.Environ, "DBUS_SESSION_BUS_ADDRESS="+address) }).start().join()
	var ok map[string]any
	r.ok("system.notify", map[string]any{"title": "Dinner", "body": "<b>now</b> \u202eor\x1b never"}, &ok)
	all := daemon.All()
	if len(all) != 1 || all[0].Title != "Dinner" || all[0].Text != "&lt;b&gt;now&lt;/b&gt; or never" || len(all[0].Actions) != 0 {
		t.Errorf("%+v", all)
	}
	if _, err := c.ReleaseName("org.freedesktop.Notifications"); err != nil {
		t.Fatal(err)
	}
	r.fails("system.notify", map[string]any{"body": "x"}, "UNAVAILABLE", "no notification was shown")
}

// geo is GeoClue as far as it is asked.
type geo struct{ c *dbus.Conn }

func (g geo) GetClient() (dbus.ObjectPath, *dbus.Error) {
	return "/org/freedesktop/GeoClue2/Client/1", nil
}
func (g geo) Start() *dbus.Error {
	err := g.c.Emit("/org/freedesktop/GeoClue2/Client/1", geoClient+".LocationUpdated", dbus.ObjectPath("/"),
		dbus.ObjectPath("/org/freedesktop/GeoClue2/Location/1"))
	if err != nil {
		return dbus.MakeFailedError(err)
	}
	return nil
}
func (g geo) Stop() *dbus.Error { return nil }
func (g geo) Set(iface, name string, v dbus.Variant) *dbus.Error {
	if iface != geoClient || name == "DesktopId" && v.Value() != "hearth" {
		return dbus.MakeFailedError(os.ErrInvalid)
	}
	return nil
}
func (g geo) GetAll(string) (map[string]dbus.Variant, *dbus.Error) {
	return map[string]dbus.Variant{
		"Latitude": dbus.MakeVariant(52.5163), "Longitude": dbus.MakeVariant(13.3777), "Accuracy": dbus.MakeVariant(30.0),
		"Altitude": dbus.MakeVariant(-1.7e308), "Timestamp": dbus.MakeVariant(struct{ S, U uint64 }{1e9, 0}),
	}, nil
}

func TestLocation(t *testing.T) {
	c, address := sessionBus(t)
	g := geo{c}
	for path, iface := range map[dbus.ObjectPath]string{
		"/org/freedesktop/GeoClue2/Manager": geoName + ".Manager", "/org/freedesktop/GeoClue2/Client/1": geoClient,
	} {
		if err := c.Export(g, path, iface); err != nil {
			t.Fatal(err)
		}
		if err := c.Export(g, path, "org.freedesktop.DBus.Properties"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Export(g, "/org/freedesktop/GeoClue2/Location/1", "org.freedesktop.DBus.Properties"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.RequestName(geoName, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(o *Options, s *Settings) {
		s.Set("location", true)
		o.Environ = append(o.Environ, "DBUS_SYSTEM_BUS_ADDRESS="+address)
	}).start().join()
	var got place
	r.ok("location.get", map[string]any{"timeoutMs": 10000}, &got)
	if got.Lat != 52.5163 || got.Lon != 13.3777 || !got.IsPrecise || got.Timestamp != "2001-09-09T01:46:40Z" || got.AltitudeMeters != nil {
		t.Errorf("%+v", got)
	}
	if _, err := c.ReleaseName(geoName); err != nil {
		t.Fatal(err)
	}
	r.fails("location.get", nil, "LOCATION_UNAVAILABLE", "GeoClue does not answer")
}

func TestScreen(t *testing.T) {
	desktoptest.Need(t, "DISPLAY")
	found := false
	for _, name := range []string{"scrot", "maim", "import"} {
		_, err := exec.LookPath(name)
		found = found || err == nil
	}
	if !found {
		desktoptest.Missing(t, "there is no scrot, maim or ImageMagick's import")
	}
	r := newRig(t, func(o *Options, s *Settings) {
		s.Set("screen", true)
		o.Environ = append(o.Environ, "DISPLAY="+os.Getenv("DISPLAY"), "XAUTHORITY="+os.Getenv("XAUTHORITY"))
	}).start().join()
	var got picture
	r.ok("screen.snapshot", map[string]any{"maxWidth": 320}, &got)
	data, err := base64.StdEncoding.DecodeString(got.Base64)
	if err != nil {
		t.Fatal(err)
	}
	conf, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || format != "jpeg" || conf.Width != got.Width || got.Width > 320 || got.Width < 300 || conf.Height != got.Height {
		t.Errorf("%s %+v %+v %v", format, conf, got, err)
	}
	r.ok("screen.snapshot", map[string]any{"format": "png"}, &got)
	if got.Format != "png" || got.Width <= 320 {
		t.Errorf("%s %d", got.Format, got.Width)
	}
	r.fails("screen.snapshot", map[string]any{"format": "exe"}, "INVALID_REQUEST", "png or jpg")
}

func TestShrink(t *testing.T) {
	src := image.NewRGBA(image.Rect(3, 3, 11, 7))
	for x := 3; x < 11; x++ {
		for y := 3; y < 7; y++ {
			src.SetRGBA(x, y, color.RGBA{uint8(20 * (x % 2)), 100, 0, 255})
		}
	}
	got := shrink(src, 4)
	if b := got.Bounds(); b.Dx() != 4 || b.Dy() != 2 || got.At(1, 1) != (color.RGBA{10, 100, 0, 255}) {
		t.Errorf("%v %v", b, got.At(1, 1))
	}
	if shrink(src, 8) != image.Image(src) {
		t.Error("it was changed")
	}
}

func TestCameras(t *testing.T) {
	all, err := cameras(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) > 0 {
		t.Skip("there is one")
	}
	r := newRig(t, func(_ *Options, s *Settings) { s.Set("camera", true) }).start().join()
	var list struct{ Devices []camera }
	r.ok("camera.list", nil, &list)
	if list.Devices == nil || len(list.Devices) != 0 {
		t.Errorf("%+v", list)
	}
	r.fails("camera.snap", nil, "CAMERA_UNAVAILABLE", "no camera is plugged in")
}

func FuzzPicture(f *testing.F) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes(), 2, "png")
	f.Add([]byte("GIF89a"), 0, "jpg")
	f.Fuzz(func(t *testing.T, data []byte, width int, format string) {
		p, err := encode(data, pictureParams{Format: format, MaxWidth: width}, "jpg")
		if err == nil && (p.Width <= 0 || p.Height <= 0 || width > 0 && p.Width > width) {
			t.Errorf("%+v", p)
		}
	})
}
