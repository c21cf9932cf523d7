package main

import (
	"io"
	"net"
	"slices"
	"testing"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/stamp"
	"github.com/pathwise-net/pathwise/sock"
)

// A step of one-way delays asks one port after the other for a reflector, keeps to the one that answers, and is left out where none does.
func TestSurveyFindsReflector(t *testing.T) {
	closed, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.LocalAddr().(*net.UDPAddr).Port
	closed.Close()
	socket, err := stamp.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- (&stamp.Reflector{}).Serve(t.Context(), socket) }()
	t.Cleanup(func() { // which the end of the context comes before
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	port := portOf(socket.Addr().String())
	step := diagnose.Step{Name: "owd", Kind: "owd", Parameters: map[string]any{"count": 3, "interval": 0.02}} // all leave in time on a busy machine
	for _, c := range []struct {
		asked, left []int
	}{{[]int{nobody, port}, []int{port}}, {[]int{nobody}, nil}, {nil, nil}} {
		v := &survey{session: &session{err: io.Discard}, target: "127.0.0.1", family: sock.IPv4, id: "one", reflectors: c.asked}
		r, err := v.makeStep(t.Context(), step)
		if err != nil || (r != nil) != (c.left != nil) || !slices.Equal(v.reflectors, c.left) {
			t.Errorf("asked at %v: %v, %v, ports %v, want %v", c.asked, r, err, v.reflectors, c.left)
		}
		if r != nil && (r.Metrics[measure.ReceivedPackets] != 3 || r.Role != measure.DiagnosisRole("one", "owd")) {
			t.Errorf("%v as %s", r.Metrics, r.Role)
		}
	}
}
