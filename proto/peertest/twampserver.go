package peertest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
)

// TWAMPServer serves control connections of TWAMP.
type TWAMPServer struct {
	Host
	Address netip.Addr // of its reflectors
}

// TWServed is what a server saw of one control connection.
type TWServed struct {
	Mode      Mode
	KeyID     string
	Requests  []SessionRequest
	Stops     []Stop
	Reflected [][]Packet // a session after the other
}

// Serve serves one connection until the client closes it. It returns the client's first violation.
func (s *TWAMPServer) Serve(conn net.Conn) (*TWServed, error) {
	served := &TWServed{}
	c, err := Answer(conn, s.Host)
	if err != nil {
		return served, err
	}
	served.Mode, served.KeyID = c.Mode, c.KeyID
	var sessions []*running
	defer func() { closeAll(sessions) }()
	for {
		begin, err := c.read(16)
		if errors.Is(err, io.EOF) {
			return served, nil
		} else if err != nil {
			return served, err
		}
		switch begin[0] {
		case requestTWSession:
			session, refused := s.accept(c, begin, served)
			if err = refused; err == nil {
				sessions = append(sessions, session)
			}
		case startSessions:
			if err = c.acknowledgeStart(begin); err == nil {
				err = s.run(c, sessions, served)
			}
			closeAll(sessions)
			sessions = nil
		default:
			err = violated("RFC 5357 section 3.4", "command %d", begin[0])
		}
		if err != nil {
			return served, err
		}
	}
}

func (s *TWAMPServer) accept(c *Control, begin []byte, served *TWServed) (*running, error) {
	r, err := c.readRequest(begin)
	if err != nil {
		return nil, err
	}
	served.Requests = append(served.Requests, r)
	socket, err := Listen(netip.AddrPortFrom(s.Address, 0))
	if err != nil {
		return nil, err
	}
	a := Accepted{Port: socket.Port, SID: NewSID(s.Address)}
	if c.Mode&ReflectOctets != 0 {
		a.ReflectedOctets, a.ServerOctets = r.ReflectOctets, 0x5357 // any two octets that the client does not know (RFC 6038 section 4.2)
	}
	session, err := c.session(r, a)
	if err = first(err, c.send(a.encode())); err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	return &running{Session: session, socket: socket}, nil
}

// run reflects until the client stops the sessions, all of them (RFC 5357 section 3.8).
func (s *TWAMPServer) run(c *Control, sessions []*running, served *TWServed) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	reflected, errs := make([][]Packet, len(sessions)), make([]error, len(sessions))
	var reflectors sync.WaitGroup
	for i, r := range sessions {
		reflectors.Go(func() { reflected[i], errs[i] = r.Reflect(ctx, r.socket) })
	}
	stop, err := c.ReadStop(true)
	cancel()
	reflectors.Wait()
	served.Stops, served.Reflected = append(served.Stops, stop), append(served.Reflected, reflected...)
	if err == nil && int(stop.Number) != len(sessions) {
		err = violated("RFC 5357 section 3.8", "Stop-Sessions accounts for %d of %d sessions", stop.Number, len(sessions))
	}
	return first(append([]error{err}, errs...)...)
}
