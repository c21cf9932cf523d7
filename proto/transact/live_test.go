package transact

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// patience is enough for anything here, on a machine that does much else.
const patience = 20 * time.Second

// serving answers on loopback until the test ends. tests yields what came of each.
func serving(t *testing.T, p Policy) (at netip.AddrPort, tests chan Tested) {
	t.Helper()
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tests = make(chan Tested, 10)
	s := &Server{Policy: p, OnTest: func(one Tested) { tests <- one }}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().(*net.TCPAddr).AddrPort(), tests
}

func begin(t *testing.T, c Client, at netip.AddrPort) *Test {
	t.Helper()
	test, err := c.Begin(t.Context(), []netip.AddrPort{at})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(test.Close)
	return test
}

func connect(t *testing.T, test *Test) *Connection {
	t.Helper()
	c, err := test.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Exchanges on one connection and on new ones are answered in their sizes, in order, and counted.
func TestExchanges(t *testing.T) {
	at, tests := serving(t, Policy{Secret: secret})
	for name, c := range map[string]Terms{
		"the least": {Exchanges: 4, Request: RequestHeader, Answer: 1, Longest: time.Minute},
		"large":     {Exchanges: 4, Request: 300_000, Answer: 1_000_000, Longest: time.Minute},
	} {
		test := begin(t, Client{Terms: c, Secret: secret, NoDelay: true}, at)
		one := connect(t, test)
		for i := range 4 {
			if i == 2 {
				one.Close()
				one = connect(t, test)
			}
			got, err := one.Exchange(min(i+1, 3), time.Now().Add(patience))
			if err != nil || got.Written <= 0 || got.FirstByte < got.Written/2 || got.LastByte < got.FirstByte {
				t.Errorf("%s: exchange %d: %+v, %v", name, i, got, err)
			}
		}
		one.Close()
		account, err := test.End()
		if err != nil || account.Exchanges != 4 || account.GatherMean > account.GatherMost || account.AnswerMost <= 0 {
			t.Errorf("%s: %+v, %v", name, account, err)
		}
		if got, want := <-tests, int64(4*(c.Request+c.Answer)); got.Err != nil || got.Bytes != want || got.Client != test.Local {
			t.Errorf("%s: %+v, want %d bytes", name, got, want)
		}
	}
}

// What was not agreed on is not answered: one exchange more, or one of other sizes, or of another test, or from another host.
func TestOnlyWhatWasAgreedOn(t *testing.T) {
	at, _ := serving(t, Policy{Tests: 4})
	few := Terms{Exchanges: 1, Request: 50, Answer: 50, Longest: time.Minute}
	for name, change := range map[string]func(*Connection){
		"as agreed":         func(*Connection) {},
		"once more":         func(c *Connection) { _, _ = c.Exchange(1, time.Now().Add(patience)) },
		"a larger answer":   func(c *Connection) { c.request[21] = 1 },
		"a smaller request": func(c *Connection) { c.request = c.request[:40]; c.request[19] = 40 },
		"another test":      func(c *Connection) { c.request[3]++ },
		"another host": func(c *Connection) {
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
			conn, err := d.Dial("tcp", at.String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			c.conn = conn
		},
	} {
		test := begin(t, Client{Terms: few}, at)
		c := connect(t, test)
		change(c)
		if _, err := c.Exchange(1, time.Now().Add(patience)); (err == nil) != (name == "as agreed") || err != nil && !errors.Is(err, endpoint.ErrLost) {
			t.Errorf("%s: %v", name, err)
		}
		test.Close()
	}
}

// Who is not let in is told why: wrong secrets no sooner than that there is no place.
func TestTurnedAway(t *testing.T) {
	at, _ := serving(t, Policy{Secret: secret, Longest: 10 * time.Second})
	try := func(c Client) error {
		_, err := c.Begin(t.Context(), []netip.AddrPort{at})
		return err
	}
	long := terms
	long.Longest = time.Minute
	want := &TooLongError{Asked: time.Minute, Allowed: 10 * time.Second}
	var got *TooLongError
	if err := try(Client{Terms: long, Secret: secret}); !errors.As(err, &got) || cmp.Diff(want, got) != "" {
		t.Errorf("too long: %v", err)
	}
	began := time.Now()
	if err := try(Client{Terms: terms}); !errors.Is(err, ErrBusy) || time.Since(began) < endpoint.BusyGrace {
		t.Errorf("without a secret: %v after %v", err, time.Since(began))
	}
	begin(t, Client{Terms: terms, Secret: secret}, at)
	if err := try(Client{Terms: terms, Secret: secret}); !errors.Is(err, ErrBusy) {
		t.Errorf("a second test: %v", err)
	}
	elsewhere, _ := serving(t, Policy{Peer: netip.MustParseAddr("127.0.0.9")})
	if _, err := (Client{Terms: terms}).Begin(t.Context(), []netip.AddrPort{elsewhere}); !errors.Is(err, endpoint.ErrLost) {
		t.Errorf("not the peer: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().(*net.TCPAddr).AddrPort()
	l.Close()
	if _, err := (Client{Terms: terms}).Begin(t.Context(), []netip.AddrPort{nobody}); !errors.Is(err, endpoint.ErrRefused) {
		t.Errorf("nobody listens: %v", err)
	}
}

// Nagle's algorithm keeps the second piece of a request until the first is acknowledged, which a Linux receiver that talks delays by
// 40 ms. The far end sees that as the time that a request takes to come together; without the algorithm there is none.
func TestSecondWriteWaits(t *testing.T) {
	at, _ := serving(t, Policy{})
	gather := func(nodelay bool) (least time.Duration, account Account) {
		test := begin(t, Client{Terms: Terms{Exchanges: 8, Request: 202, Answer: 50, Longest: time.Minute}, NoDelay: nodelay}, at)
		c := connect(t, test)
		least = time.Hour
		for range 8 {
			times, err := c.Exchange(2, time.Now().Add(patience))
			if err != nil {
				t.Fatal(err)
			}
			least = min(least, times.LastByte)
		}
		c.Close()
		account, err := test.End()
		if err != nil {
			t.Fatal(err)
		}
		return least, account
	}
	if _, account := gather(false); account.GatherMost < 30*time.Millisecond || account.GatherMean < 3*time.Millisecond {
		t.Errorf("with Nagle's algorithm: %+v", account)
	}
	if least, account := gather(true); least > 30*time.Millisecond || account.AnswerMean > 30*time.Millisecond {
		t.Errorf("without: %v, %+v", least, account)
	}
}

// A responder that acknowledges at once lets the second piece come at once, and one that delays lets each wait, but for the first of a
// connection, of which the kernel acknowledges a part before the responder knows what it is.
func TestAcksAreSet(t *testing.T) {
	at, _ := serving(t, Policy{})
	for acks, held := range map[Acks]bool{AcksAtOnce: false, AcksDelayed: true} {
		test := begin(t, Client{Terms: Terms{Exchanges: 4, Request: 202, Answer: 50, Longest: time.Minute, Acks: acks}}, at)
		c := connect(t, test)
		least := time.Hour
		for i := range 4 {
			times, err := c.Exchange(2, time.Now().Add(patience))
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				least = min(least, times.LastByte)
			}
		}
		if (least > 30*time.Millisecond) != held {
			t.Errorf("acks %d: the least exchange took %v", acks, least)
		}
		c.Close()
		test.Close()
	}
}

// A responder that leaves acknowledgements to its kernel is told from one that sets them.
func TestResponderWithoutAcks(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			_, _ = conn.Write(welcome{verdict: goAhead}.encode())
			_, _ = io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
	these := terms
	these.Acks = AcksAtOnce
	if _, err := (Client{Terms: these}).Begin(t.Context(), []netip.AddrPort{l.Addr().(*net.TCPAddr).AddrPort()}); !errors.Is(err, ErrAcks) {
		t.Errorf("%v, want %v", err, ErrAcks)
	}
}

// Each write of a padded request fills whole segments.
func TestPadded(t *testing.T) {
	for _, c := range []struct{ request, writes, mss, want int }{
		{1, 1, 536, 536}, {536, 1, 536, 536}, {537, 1, 536, 1072}, {101, 2, 1448, 2896}, {2897, 2, 1448, 5792},
	} {
		if got := padded(c.request, c.writes, c.mss); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// The end of a context ends what is under way, and what the far end does not answer ends in time.
func TestExchangeEnds(t *testing.T) {
	at, _ := serving(t, Policy{})
	ctx, cancel := context.WithCancelCause(t.Context())
	test, err := (Client{Terms: Terms{Exchanges: 9, Request: 50, Answer: 50, Longest: time.Minute}}).Begin(ctx, []netip.AddrPort{at})
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, test)
	why := errors.New("enough")
	cancel(why)
	if _, err := c.Exchange(1, time.Now().Add(patience)); !errors.Is(err, why) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := test.End(); !errors.Is(err, why) {
		t.Errorf("after the end: %v", err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // its connections open, and nobody takes them
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ends := []netip.AddrPort{silent.Addr().(*net.TCPAddr).AddrPort()}
	_, err = (Client{Terms: terms, Timeout: 50 * time.Millisecond}).Begin(t.Context(), ends)
	if !errors.Is(err, endpoint.ErrSilent) {
		t.Errorf("nobody takes the connection: %v", err)
	}
}
