package respond

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/proto/owamp"
	"github.com/pathwise-net/pathwise/proto/transact"
	"github.com/pathwise-net/pathwise/proto/twamp"
)

// client is the near end of a kind, as the conformance suite needs it.
type client struct {
	// test makes a test that lasts for d, or the shortest there is if that is 0. The secret may be "": of none. It calls begun, if
	// that is not nil, as soon as the far end answers the test itself.
	test func(ctx context.Context, address, secret string, d time.Duration, begun func()) error
	// vanish begins a test, and is gone in the midst of it without a word.
	vanish func(t *testing.T, address, secret string)
}

// clients has one for each kind that listens.
var clients = map[string]client{
	measure.ResponderIperf3:   {testIperf3, vanishIperf3},
	measure.ResponderTransact: {testTransact, vanishTransact},
	measure.ResponderFlows:    {testFlows, vanishFlows},
	measure.ResponderNDT7:     {testNDT7, vanishNDT7},
	measure.ResponderOWAMP:    {testOWAMP, vanishOWAMP},
	measure.ResponderTWAMP:    {testTWAMP, vanishTWAMP},
}

func testIperf3(ctx context.Context, address, secret string, d time.Duration, begun func()) error {
	config := iperf3.Config{Cookie: secret, Duration: d, Rate: 8e6, Interval: 10 * time.Millisecond}
	if begun != nil {
		config.OnInterval = func(iperf3.IntervalReport) { begun() }
	}
	if d == 0 {
		config.Bytes = 10_000
	}
	_, err := (&iperf3.Client{Addr: address, Config: config}).Run(ctx)
	return err
}

// reset ends a connection by RST, as a program that is killed with data unread does.
func reset(conn net.Conn) {
	_ = conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

func vanishIperf3(t *testing.T, address, secret string) {
	t.Helper()
	cookie, err := iperf3.ParseCookie(secret)
	if err != nil {
		t.Fatal(err)
	}
	text, err := iperf3.EncodeParams(iperf3.Params{TCP: true, Time: 1, Parallel: 1, Len: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var conns []net.Conn
	connect := func() net.Conn {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conns = append(conns, conn)
			_, err = conn.Write(cookie[:])
		}
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	defer func() {
		for _, conn := range conns {
			reset(conn)
		}
	}()
	control := connect()
	await := func(want iperf3.State) {
		if got, err := iperf3.ReadState(control); err != nil || got != want {
			t.Fatalf("state %v (%v), want %v", got, err, want)
		}
	}
	await(iperf3.ParamExchange)
	if err := iperf3.WriteFrame(control, text); err != nil {
		t.Fatal(err)
	}
	await(iperf3.CreateStreams)
	stream := connect()
	await(iperf3.TestStart)
	await(iperf3.TestRunning)
	if _, err := stream.Write(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
}

// transactPause is the time between the exchanges of a test that lasts.
const transactPause = 10 * time.Millisecond

func beginTransact(ctx context.Context, address, secret string, d time.Duration) (*transact.Test, *transact.Connection, error) {
	c := transact.Client{Secret: secret, Terms: transact.Terms{Exchanges: 1 + int(d/transactPause), Request: 100, Answer: 100,
		Longest: max(d, 500*time.Millisecond)}}
	test, err := c.Begin(ctx, []netip.AddrPort{netip.MustParseAddrPort(address)})
	if err != nil {
		return nil, nil, err
	}
	conn, err := test.Connect()
	if err != nil {
		test.Close()
	}
	return test, conn, err
}

func testTransact(ctx context.Context, address, secret string, d time.Duration, begun func()) error {
	test, conn, err := beginTransact(ctx, address, secret, d)
	if err != nil {
		return err
	}
	defer test.Close()
	defer conn.Close()
	for range test.Terms.Exchanges {
		if _, err := conn.Exchange(1, time.Now().Add(patience)); err != nil {
			return err
		}
		if begun != nil {
			begun()
		}
		if d > 0 {
			time.Sleep(transactPause)
		}
	}
	_, err = test.End()
	return err
}

func vanishTransact(t *testing.T, address, secret string) {
	t.Helper()
	test, conn, err := beginTransact(t.Context(), address, secret, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exchange(1, time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	test.Close() // the responder has not heard of its end
}

// owampPause is the time between the packets of a test.
const owampPause = 10 * time.Millisecond

func testOWAMP(ctx context.Context, address, secret string, d time.Duration, begun func()) error {
	terms := owamp.Terms{Packets: 1 + int(d/owampPause), Slots: []owamp.Slot{owamp.Fixed(owampPause)}, Timeout: 100 * time.Millisecond}
	plan := owamp.Plan{Reverse: &terms}
	if begun != nil {
		plan.OnRecord = func(owamp.Record) { begun() }
	}
	_, err := owamp.Client{KeyID: runKeyID, Secret: []byte(secret)}.Measure(ctx, []netip.AddrPort{netip.MustParseAddrPort(address)}, plan)
	return err
}

// vanishOWAMP speaks by hand: it asks for packets, has them sent, and resets the connection.
func vanishOWAMP(t *testing.T, address, secret string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer reset(conn)
	c, err := control.Dial(conn, control.Wish{Modes: []control.Mode{control.Encrypted}, KeyID: runKeyID, Secret: []byte(secret)})
	if err != nil {
		t.Fatal(err)
	}
	slot := make([]byte, control.BlockBytes) // of an exponential schedule whose mean is 0
	c.Add(control.Request{Command: control.RequestSession, ServerSends: true, Slots: 1, Packets: 1, ReceiverPort: 9,
		Timeout: control.IntervalOf(10 * time.Second)}.Encode())
	c.Digest()
	c.Add(slot)
	c.Digest()
	accepted, ack := make([]byte, control.AcceptedBytes), make([]byte, control.StartStopBytes)
	for _, err := range []error{c.Flush(), c.Receive(accepted), c.Send(control.EncodeStart()), c.Receive(ack)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if accepted[0] != 0 || ack[0] != 0 {
		t.Fatalf("refused: %x, %x", accepted, ack)
	}
}

// beginTWAMP begins a test of one session, whose packets go over a socket.
func beginTWAMP(ctx context.Context, address, secret string) (*twamp.Test, *twamp.Session, *net.UDPConn, error) {
	c := twamp.Client{KeyID: runKeyID, Secret: []byte(secret)}
	test, err := c.Connect(ctx, []netip.AddrPort{netip.MustParseAddrPort(address)})
	if err != nil {
		return nil, nil, nil, err
	}
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(test.Local.Addr(), 0)))
	if err != nil {
		return nil, nil, nil, err
	}
	session, err := test.Request(twamp.Terms{Port: conn.LocalAddr().(*net.UDPAddr).AddrPort().Port(), Timeout: 100 * time.Millisecond,
		Padding: twamp.LeastPadding(test.Mode)})
	if err == nil {
		err = test.Start()
	}
	if err != nil {
		test.Close()
		conn.Close()
	}
	return test, session, conn, err
}

func testTWAMP(ctx context.Context, address, secret string, d time.Duration, begun func()) error {
	test, session, conn, err := beginTWAMP(ctx, address, secret)
	if err != nil {
		return err
	}
	defer test.Close()
	defer conn.Close()
	b := twamp.NewPacket(session.Mode, session.Terms.Padding)
	session.Sealer.Seal(b, control.Packet{Sent: control.TimestampOf(time.Now()), Error: control.Unknown})
	if _, err := conn.WriteToUDPAddrPort(b, session.Remote); err != nil {
		return err
	}
	_ = conn.SetReadDeadline(time.Now().Add(patience)) // of a socket that is open
	if _, err := conn.Read(b); err != nil {
		return err
	}
	if _, err := session.Sealer.OpenReflection(b); err != nil {
		return err
	}
	if begun != nil {
		begun()
	}
	if d > 0 {
		select {
		case <-test.Done():
			return errors.New("the server ended the test")
		case <-time.After(d):
		}
	}
	return test.Stop()
}

// vanishTWAMP begins a test, and closes the connection before the responder has heard of its end.
func vanishTWAMP(t *testing.T, address, secret string) {
	t.Helper()
	test, _, conn, err := beginTWAMP(t.Context(), address, secret)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	test.Close()
}
