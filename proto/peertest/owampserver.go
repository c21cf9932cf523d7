package peertest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
)

// OWAMPServer serves control connections of OWAMP, and keeps what it received for those who fetch it.
type OWAMPServer struct {
	Host
	Address netip.Addr  // of its test sockets
	Skips   []SkipRange // what its senders leave out

	mutex sync.Mutex
	kept  map[[16]byte]Fetched
}

// Served is what a server saw of one control connection.
type Served struct {
	Mode     Mode
	KeyID    string
	Requests []SessionRequest
	Stops    []Stop // of the client
	Sent     []Sent // by the server, a session after the other
	Received [][]Received
}

// running is a session between its request and its end.
type running struct {
	Session
	socket   *Socket
	sent     Sent
	received []Received
	err      error
}

// Serve serves one connection until the client closes it. It returns the client's first violation.
func (s *OWAMPServer) Serve(conn net.Conn) (*Served, error) {
	served := &Served{}
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
		case requestSession:
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
		case fetchSession:
			err = c.answerFetch(begin, s.find)
		default:
			err = violated("RFC 4656 section 3.4", "command %d", begin[0])
		}
		if err != nil {
			return served, err
		}
	}
}

func closeAll(sessions []*running) {
	for _, r := range sessions {
		r.socket.Close()
	}
}

func (s *OWAMPServer) find(sid [16]byte) (Fetched, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	f, found := s.kept[sid]
	return f, found
}

// accept answers a request. One that has the server as neither end, or as both, is refused.
func (s *OWAMPServer) accept(c *Control, begin []byte, served *Served) (*running, error) {
	r, err := c.readRequest(begin)
	if err != nil {
		return nil, err
	}
	served.Requests = append(served.Requests, r)
	if r.ConfSender == r.ConfReceiver {
		return nil, errors.Join(c.send(Accepted{Accept: 3}.encode()), violated("RFC 4656 section 3.5", "the server has neither or both roles"))
	}
	socket, err := Listen(netip.AddrPortFrom(s.Address, 0))
	if err != nil {
		return nil, err
	}
	a := Accepted{Port: socket.Port}
	if r.ConfReceiver {
		if err := zero("RFC 4656 section 3.5", "SID of a request to receive", r.SID[:]); err != nil {
			return nil, errors.Join(err, socket.Close())
		}
		a.SID = NewSID(s.Address)
	}
	session, err := c.session(r, a)
	if err = first(err, c.send(a.encode())); err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	return &running{Session: session, socket: socket}, nil
}

// run runs sessions to their end. Where it only sends, it ends them first; otherwise it waits for the client to do so.
func (s *OWAMPServer) run(c *Control, sessions []*running, served *Served) error {
	sending, stopSending := context.WithCancel(context.Background())
	receiving, stopReceiving := context.WithCancel(context.Background())
	defer stopSending()
	defer stopReceiving()
	var senders, receivers sync.WaitGroup
	for _, r := range sessions {
		if r.Request.ConfSender {
			senders.Go(func() {
				r.sent, r.err = r.Send(sending, r.socket, netip.AddrPortFrom(r.Request.ReceiverAddress, r.Request.ReceiverPort), s.Skips...)
			})
		} else {
			receivers.Go(func() { r.received, r.err = r.Receive(receiving, r.socket) })
		}
	}
	receives := false
	for _, r := range sessions {
		receives = receives || r.Request.ConfReceiver
	}
	var stop Stop
	var err error
	if receives {
		stop, err = c.ReadStop(false)
		stopSending()
	}
	senders.Wait()
	err = first(err, c.SendStop(stopOf(sessions)))
	if !receives && err == nil {
		stop, err = c.ReadStop(false)
	}
	served.Stops = append(served.Stops, stop)
	stopReceiving()
	receivers.Wait()
	for _, r := range sessions {
		err = first(err, r.err)
		if r.Request.ConfSender {
			served.Sent = append(served.Sent, r.sent)
		} else {
			served.Received = append(served.Received, r.received)
		}
	}
	return first(err, s.keep(sessions, stop))
}

// stopOf is the Stop-Sessions of one who sent some sessions.
func stopOf(sessions []*running) (stop Stop) {
	for _, r := range sessions {
		if r.Request.ConfSender {
			stop.Sessions = append(stop.Sessions, StoppedSession{r.SID, r.sent})
		}
	}
	stop.Number = uint32(len(stop.Sessions))
	return stop
}

// keep files what was received. The client accounts for each session that it sent, and for no other (RFC 4656 section 3.8).
func (s *OWAMPServer) keep(sessions []*running, stop Stop) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.kept == nil {
		s.kept = map[[16]byte]Fetched{}
	}
	accounts := map[[16]byte]Sent{}
	for _, stopped := range stop.Sessions {
		accounts[stopped.SID] = stopped.Sent
	}
	count := 0
	for _, r := range sessions {
		if !r.Request.ConfReceiver {
			continue
		}
		sent, found := accounts[r.SID]
		if !found {
			return violated("RFC 4656 section 3.8", "Stop-Sessions does not account for session % x", r.SID)
		}
		s.kept[r.SID] = r.records(sent)
		count++
	}
	if count != len(stop.Sessions) {
		return violated("RFC 4656 section 3.8", "Stop-Sessions accounts for %d sessions, and %d were sent", len(stop.Sessions), count)
	}
	return nil
}

// records are those of a session that ended: what arrived, and what was lost of what was sent.
func (r *running) records(sent Sent) Fetched {
	f := Fetched{Finished: 1, Next: sent.Next, Skips: sent.Skips, Request: r.Request}
	f.Request.SID = r.SID
	arrived := map[uint32]bool{}
	for _, p := range r.received {
		f.Records = append(f.Records, Record{p.Packet.Seq, p.Packet.Error, someError, p.Packet.Sent, p.At, p.TTL})
		arrived[p.Packet.Seq] = true
	}
	for _, skip := range sent.Skips {
		for seq := skip.First; seq <= skip.Last; seq++ {
			arrived[seq] = true // as little lost as what arrived
		}
	}
	for seq, after := range Schedule(r.SID, r.Request.Slots, sent.Next) {
		if !arrived[uint32(seq)] {
			f.Records = append(f.Records, Record{Seq: uint32(seq), SendError: someError, ReceiveError: someError,
				Sent: r.Request.StartTime + after, TTL: 255})
		}
	}
	return f
}
