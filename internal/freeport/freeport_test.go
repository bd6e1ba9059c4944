package freeport_test

import (
	"net"
	"strconv"
	"testing"

	"github.com/hearth-assistant/hearth/internal/freeport"
)

func TestFind(t *testing.T) {
	for range 20 {
		port, err := freeport.Find()
		if err != nil {
			t.Fatal(err)
		}
		if port < 20000 || port > 32767 {
			t.Errorf("%d is one that systems give away", port)
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}
