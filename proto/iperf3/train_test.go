package iperf3

import (
	"encoding/json"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// Trains arrive in the order in which they left, and each datagram with when it did. A train this short goes to the kernel at once.
func TestTrains(t *testing.T) {
	addr := serve(t, Policy{})
	for _, reverse := range []bool{false, true} {
		began := time.Now()
		r := run(t, addr, Config{Proto: UDP, Reverse: reverse, Train: &Train{Packets: 20, Size: 1200, Trains: 3, Gap: 0.1}})
		if len(r.Arrivals) != 60 || r.Arrivals[0].At != 0 {
			t.Fatalf("reverse %v: %d arrivals, want 60", reverse, len(r.Arrivals))
		}
		for i, a := range r.Arrivals {
			train := int64(i / 20)
			if a.Sequence != int64(i+1) || a.At < train*90e6 || a.At > train*150e6+50e6 || a.Sent/90e6 < train || a.Sent > train*150e6+50e6 {
				t.Errorf("reverse %v: arrival %d is %v", reverse, i, a)
			}
			if a.Sent != r.Arrivals[train*20].Sent {
				t.Errorf("reverse %v: arrival %d left at %d, the train at %d: the kernel did not cut it", reverse, i, a.Sent,
					r.Arrivals[train*20].Sent)
			}
		}
		if took := time.Since(began); took > 1500*time.Millisecond {
			t.Errorf("reverse %v: took %v though nothing was lost", reverse, took)
		}
	}
}

// Trains that differ arrive in their order, each at its own pace and after the rest of the one before.
func TestTrainsOfSteps(t *testing.T) {
	addr := serve(t, Policy{})
	train := StepTrain(1000, []Step{{Packets: 3, Rest: 0.1}, {Packets: 5, Spacing: 0.01, Rest: 0.05}, {Packets: 2}})
	want := []int64{0, 0, 0, 100, 110, 120, 130, 140, 190, 190} // ms after the first
	for _, reverse := range []bool{false, true} {
		r := run(t, addr, Config{Proto: UDP, Reverse: reverse, Train: &train})
		if len(r.Arrivals) != len(want) || !r.Peer.Steps {
			t.Fatalf("reverse %v: %d arrivals, want %d; %+v", reverse, len(r.Arrivals), len(want), r.Peer)
		}
		for i, a := range r.Arrivals {
			sent := a.Sent - r.Arrivals[0].Sent
			if early := want[i]*1e6 - sent; a.Sequence != int64(i+1) || early > 1e6 || early < -50e6 {
				t.Errorf("reverse %v: arrival %d is %v, sent %v after the first, want %d ms", reverse, i, a, time.Duration(sent), want[i])
			}
		}
	}
}

// A client does not wait for what it sent last: the server does.
func TestTrainsEndAtOnce(t *testing.T) {
	train := StepTrain(1000, []Step{{Packets: 3, Rest: 0.01}, {Packets: 3, Rest: 5}})
	began := time.Now()
	r := run(t, serve(t, Policy{}), Config{Proto: UDP, Train: &train})
	if took := time.Since(began); len(r.Arrivals) != 6 || !r.Peer.Awaits || took > 4*time.Second {
		t.Errorf("%d arrivals, awaits %v, took %v", len(r.Arrivals), r.Peer.Awaits, took)
	}
}

// A server goes on when all datagrams of trains came, and, where some are lost, when none came for a while.
func TestAwaitTrains(t *testing.T) {
	for _, c := range []struct {
		lost int64
		want time.Duration // after the last one
	}{{0, 0}, {1, 20 * time.Millisecond}} {
		synctest.Test(t, func(t *testing.T) {
			transfer := newTransfer(Params{UDP: true, Pathwise: &ParamsExtra{Train: &Train{Packets: 3, Size: 1000, Trains: 1}}})
			s := &stream{}
			transfer.streams = []*stream{s}
			ended, conn := make(chan time.Time), &net.TCPConn{}
			go func() { transfer.awaitTrains(conn, nil); ended <- time.Now() }()
			time.Sleep(15 * time.Millisecond)
			s.mu.Lock()
			s.track.Highest, s.track.Lost = 2, c.lost
			s.mu.Unlock()
			s.count.Add(1000)
			time.Sleep(15 * time.Millisecond)
			last := time.Now()
			s.mu.Lock()
			s.track.Highest = 3
			s.mu.Unlock()
			s.count.Add(1000)
			if took := (<-ended).Sub(last); took < c.want || took > c.want+3*drainPoll {
				t.Errorf("%d lost: waited for %v, want %v", c.lost, took, c.want)
			}
		})
	}
}

// Trains are over a gap after their last datagram came; where that one is lost, when no datagram came for trainQuiet and the gap. They are not over
// before the first one came.
func TestTrainsOver(t *testing.T) {
	for _, c := range []struct {
		last uint64 // sequence number
		want time.Duration
	}{{60, 1650 * time.Millisecond}, {59, 2050 * time.Millisecond}} {
		synctest.Test(t, func(t *testing.T) {
			train := Train{Packets: 20, Size: 1200, Trains: 3, Gap: 0.1}
			transfer := newTransfer(Params{UDP: true, Reverse: true, Pathwise: &ParamsExtra{Train: &train}})
			transfer.streams = []*stream{{}}
			began, over := time.Now(), make(chan struct{})
			quiet := transfer.watchTrains(over)
			for i, after := range []time.Duration{time.Second, 100 * time.Millisecond, 450 * time.Millisecond} {
				time.Sleep(after)
				s := transfer.streams[0]
				s.mu.Lock()
				s.track.Highest = uint64(i+1) * c.last / 3
				s.mu.Unlock()
				s.count.Add(1200)
			}
			<-quiet
			if took := time.Since(began); took < c.want || took > c.want+3*drainPoll {
				t.Errorf("last datagram %d: over after %v, want %v", c.last, took, c.want)
			}
		})
	}
}

// Trains of datagrams of any size arrive whole, and with their numbers: of one burst or several, and of such that go out in fragments.
func TestTrainsOfAnySize(t *testing.T) {
	addr := serve(t, Policy{})
	for _, train := range []Train{
		{Packets: 200, Size: 16, Trains: 1}, {Packets: 130, Size: 1452, Trains: 1}, {Packets: 15, Size: 9000, Trains: 1}, {Packets: 1, Size: 1452, Trains: 3},
		{Packets: 21, Size: 1452, Small: 16, Trains: 2},
	} {
		r := run(t, addr, Config{Proto: UDP, Train: &train})
		for i, a := range r.Arrivals {
			if a.Sequence != int64(i+1) {
				t.Fatalf("%+v: arrival %d is %v", train, i, a)
			}
		}
		if sum := r.Total(Forward); len(r.Arrivals) != train.Packets*train.Trains || sum.ReceivedBytes != int64(train.bytes()*train.Trains) {
			t.Errorf("%+v: %d arrivals of %+v", train, len(r.Arrivals), sum)
		}
	}
}

// A kernel that refuses to cut bursts sends each datagram as it is.
func TestTrainsUncut(t *testing.T) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	out, err := net.Dial("udp", conn.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	s, err := newStream(0, out, true, true, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.raw.Control(func(fd uintptr) { // without checksums no adapter may cut (udp_send_skb)
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_NO_CHECK, 1)
	}); err != nil {
		t.Fatal(err)
	}
	transfer := newTransfer(Params{UDP: true, Parallel: 1, Pathwise: &ParamsExtra{}})
	transfer.start = time.Now()
	if err := transfer.sendTrains(s, 1000, Train{Packets: 70, Size: 1000, Trains: 1}); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1<<16)
	for want := range uint64(70) {
		conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		n, err := conn.Read(buf)
		if _, seq, ok := ParseDatagram(buf[:n], false); err != nil || n != 1000 || !ok || seq != want+1 {
			t.Fatalf("datagram %d of %d bytes, want %d; %v", seq, n, want+1, err)
		}
	}
}

// On the wire an arrival is an array, of which the first builds send two numbers.
func TestArrivalOnTheWire(t *testing.T) {
	sent := ResultsExtra{Software: "pathwise", Version: "1", Arrivals: toWire([]Arrival{{Sequence: 1, At: 20, Sent: 300}, {Sequence: 2}})}
	text, err := json.Marshal(sent)
	if want := `{"software":"pathwise","version":"1","arrivals":[[1,20,300],[2,0,0]]}`; err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	var got ResultsExtra
	err = json.Unmarshal([]byte(`{"arrivals":[[1,20,300],[2,40],[]]}`), &got)
	want := []Arrival{{Sequence: 1, At: 20, Sent: 300}, {Sequence: 2, At: 40}, {}}
	if all := fromWire(got.Arrivals); !slices.Equal(all, want) || err != nil {
		t.Errorf("%v, %v; want %v", all, err, want)
	}
}
