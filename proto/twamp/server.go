package twamp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/sock"
)

// Server answers the tests of clients. It is used for one Serve.
type Server struct {
	Policy endpoint.Policy // of its limits, Longest counts from the start of sessions to their end
	Log    *slog.Logger    // nil: silent
	Clock  endpoint.Clock
	// OnTest, if not nil, is called after each connection on which sessions were started, while it still has its place: never more than
	// Policy.Tests calls at a time.
	OnTest func(endpoint.Tested)
}

// Serve answers on a listener until ctx ends. It then ends all tests, waits for every goroutine, closes the listener and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	server := endpoint.Server{Protocol: "TWAMP", Has: Modes | Features, Policy: s.Policy, Log: s.Log, OnTest: s.OnTest,
		Visit: func(one *endpoint.Visit) error {
			v := &visit{Visit: one, server: s}
			defer v.close()
			return v.Commands(func() bool { return len(v.sessions.all) > 0 }, v.do)
		}}
	return server.Serve(ctx, l)
}

// visit is a connection that a Server let in.
type visit struct {
	*endpoint.Visit
	server   *Server
	sessions reflectors
}

// close ends what is under way.
func (v *visit) close() { v.Bytes += v.sessions.close() }

// do does what a command asks for, of which the first block was read.
func (v *visit) do(first []byte) error {
	switch control.Command(first[0]) {
	case control.RequestTwoWay:
		return v.request(first)
	case control.StartSessions:
		return v.run()
	}
	return errors.New("it is unknown, or out of place")
}

// request takes a session in, or says why not.
func (v *visit) request(first []byte) error {
	b := make([]byte, control.RequestBytes)
	copy(b, first)
	if err := v.Receive(b[control.BlockBytes:]); err != nil {
		return err
	}
	a := control.Accepted{Accept: control.Unsupported}
	q, err := control.DecodeRequest(b)
	if err == nil {
		if a, err = v.admit(q); err != nil {
			v.server.Log.Warn("TWAMP session failed", "client", v.Conn.RemoteAddr(), "error", err)
			a = control.Accepted{Accept: control.Failed}
		}
	}
	if a.Accept != control.OK {
		v.server.Log.Info("TWAMP session refused", "client", v.Conn.RemoteAddr(), "verdict", a.Accept, "padding", q.Padding,
			"least", LeastPadding(v.Mode))
	}
	return v.Send(a.Encode())
}

// admit opens a session that may be.
func (v *visit) admit(q control.Request) (control.Accepted, error) {
	terms, supported := termsOf(q, v.Mode)
	most := v.Limits.MostPackets(SenderBytes(v.Mode, terms.Padding))
	switch {
	case !supported, q.IPv6 != v.Local.Is6():
		return control.Accepted{Accept: control.Unsupported}, nil
	case q.SenderAddress.IsValid() && q.SenderAddress != v.From:
		return control.Accepted{Accept: control.Refused}, nil // who asks for answers to somebody else has not shown that they want them
	case len(v.sessions.all) >= v.Limits.Sessions, terms.Timeout > v.Limits.Longest, most < 1:
		return control.Accepted{Accept: control.Never}, nil
	}
	socket, err := listen(v.Local, q.ReceiverPort)
	if err != nil {
		return control.Accepted{}, err
	}
	id := control.NewSID(v.Local, time.Now())
	v.sessions.all = append(v.sessions.all, &reflector{id: id, terms: terms, sealer: NewSealer(v.Mode, v.Keys, id), socket: socket,
		least: ReflectionBytes(v.Mode, 0), from: netip.AddrPortFrom(v.From, terms.Port), clock: v.server.Clock,
		bucket: bucket{most: float64(most)}, packet: v.Limits.Packets, log: v.server.Log})
	a := control.Accepted{Port: socket.Addr().(*net.UDPAddr).AddrPort().Port(), SID: id}
	if v.Mode&control.ReflectOctets != 0 { // as they were asked for; this server wants none back (RFC 6038 section 4.3)
		copy(a.Rest[:2], q.Rest[:2])
	}
	return a, nil
}

// leastPort is the first that programs may open without being root, who would take it from a service.
const leastPort = 1024

// listen opens the port that a client asks for, or any where it cannot be had.
func listen(local netip.Addr, port uint16) (*sock.Answering, error) {
	if port >= leastPort {
		if s, err := sock.ListenAnswering(context.Background(), net.JoinHostPort(local.String(), strconv.Itoa(int(port)))); err == nil {
			return s, nil
		}
	}
	return sock.ListenAnswering(context.Background(), net.JoinHostPort(local.String(), "0"))
}

// run starts the sessions, and ends them when the client says so, or has not said so in time.
func (v *visit) run() error {
	if err := v.Verify(); err != nil {
		return err
	}
	if len(v.sessions.all) == 0 {
		return v.Send(control.EncodeStartAck(control.Refused))
	}
	v.Tests++
	if err := v.Send(control.EncodeStartAck(control.OK)); err != nil {
		return err
	}
	v.sessions.start()
	_ = v.Conn.SetDeadline(time.Now().Add(v.Limits.Longest))
	stop := make([]byte, control.StartStopBytes)
	if err := v.Receive(stop); errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the test took longer than %v", v.Limits.Longest)
	} else if err != nil {
		return fmt.Errorf("await end of sessions: %w", err)
	}
	_, sessions, err := control.DecodeStop(stop)
	if err != nil {
		return err
	}
	if int64(sessions) != int64(len(v.sessions.all)) {
		return fmt.Errorf("end of %d sessions: there are %d", sessions, len(v.sessions.all))
	}
	v.sessions.stop()
	return nil
}
