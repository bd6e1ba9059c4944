package lan

import (
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/qrcode"
)

// drawSetup adds the pictures of a setup code.
func drawSetup(s *protocol.PairSetup) (err error) {
	if s.QRDataURL, err = qrcode.Picture(s.SetupCode); err != nil || len(s.PhoneURLs) == 0 {
		return err
	}
	s.PhoneQRDataURL, err = qrcode.Picture(s.PhoneURLs[0])
	return err
}
