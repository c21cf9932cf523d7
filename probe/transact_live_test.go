package probe

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/transact"
)

// answering runs a responder on loopback until the test ends, and returns its port.
func answering(t *testing.T, p transact.Policy) int {
	t.Helper()
	l, err := transact.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- (&transact.Server{Policy: p}).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().(*net.TCPAddr).Port
}

// Whole transactions over loopback: on one connection and on new ones, in turns and in pieces.
func TestTransactOnLoopback(t *testing.T) {
	port := answering(t, transact.Policy{Secret: strings.Repeat("s", transact.SecretBytes)})
	for name, parameters := range map[string]map[string]any{
		"plain":              {},
		"new":                {"new": true},
		"turns and pieces":   {"turns": 3, "writes": 2, "nodelay": true},
		"padded":             {"request": 101, "writes": 2, "pad": true},
		"acknowledged":       {"writes": 2, "quickack": "yes"},
		"more than a packet": {"request": 100_000, "response": 200_000, "new": true},
	} {
		parameters["count"], parameters["interval"] = 4, "5ms"
		var lines []string
		p, err := New(measure.Task{Kind: "transact", Target: "127.0.0.1", Parameters: parameters}, Options{
			Responder: &measure.Responder{Kind: measure.ResponderTransact, Port: port, Secret: strings.Repeat("s", transact.SecretBytes)},
			Say:       func(line string) { lines = append(lines, line) }})
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Do(t.Context())
		if err != nil || len(lines) != 4 || len(r.Samples.Transactions) != 4 || len(r.Notes) > 0 {
			t.Fatalf("%s: %v, %v, %v, %v", name, err, lines, r.Samples.Transactions, r.Notes)
		}
		each := name == "new" || name == "more than a packet"
		for _, one := range r.Samples.Transactions {
			if (one.ConnectSeconds != nil) != each || *one.WrittenSeconds > *one.Seconds || *one.FirstByteSeconds > *one.Seconds ||
				each && *one.ConnectSeconds > *one.WrittenSeconds {
				t.Errorf("%s: %+v", name, one)
			}
		}
		for metric, want := range map[measure.Metric]float64{measure.TransactionsDone: 4, measure.TransactionsFailed: 0} {
			if got := r.Metrics[metric]; got != want {
				t.Errorf("%s: %s is %v, want %v", name, metric, got, want)
			}
		}
		for _, metric := range []measure.Metric{measure.TransactionIdeal, measure.ConnectMin, measure.AnswerTime, measure.RequestGather} {
			if r.Metrics[metric] <= 0 {
				t.Errorf("%s: no %s", name, metric)
			}
		}
		if m := r.Metrics; m[measure.TransactionIdeal] > m[measure.TransactionMedian] {
			t.Errorf("%s: the path alone takes %v, and a transaction %v", name, m[measure.TransactionIdeal], m[measure.TransactionMedian])
		}
		wantConnections := uint64(1)
		if each {
			wantConnections = 4
		}
		if got := countOf(t, r, measure.ConnectTimes); got != wantConnections || countOf(t, r, measure.TransactionTimes) != 4 {
			t.Errorf("%s: %d connections, want %d", name, got, wantConnections)
		}
	}
}

func countOf(t *testing.T, r *measure.Result, name measure.Metric) uint64 {
	t.Helper()
	d := r.Distributions[name]
	s, err := d.Sketch()
	if err != nil {
		t.Fatal(err)
	}
	return s.Count()
}

// A transaction that is not answered in time has failed, which is data; the next one gets another connection.
func TestTransactionFails(t *testing.T) {
	port := answering(t, transact.Policy{Tests: 4})
	// Over loopback in small pieces with Nagle's algorithm, the second waits for 40 ms.
	p := &Transact{Target: "127.0.0.1", Port: port, Count: 3, Interval: time.Millisecond, Writes: 2, Turns: 9, Timeout: 60 * time.Millisecond}
	r, err := p.Do(t.Context())
	if err != nil || r.Status != measure.StatusOK || r.Metrics[measure.TransactionsFailed] != 3 || r.Samples.Transactions[2].Error == "" ||
		countOf(t, r, measure.ConnectTimes) != 3 {
		t.Errorf("%v, %v, %+v", err, r.Metrics, r.Samples.Transactions)
	}
}

// losingControl passes connections on to a port, and closes the first, over which both ends talk of the test, when its client says a second thing.
func losingControl(t *testing.T, port int) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	pass := func(to, from net.Conn) {
		defer to.Close()
		_, _ = io.Copy(to, from)
	}
	go func() {
		for control := true; ; control = false {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			if err != nil {
				client.Close()
				return
			}
			go pass(client, server)
			if !control {
				go pass(server, client)
				continue
			}
			go func() {
				defer server.Close()
				said := make([]byte, 4096)
				n, _ := client.Read(said)
				_, _ = server.Write(said[:n])
				_, _ = client.Read(said)
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// Where the connection over which both ends talk is lost, what transactions took is known, and the Result, which lacks the far end's account, is partial.
func TestTransactLosesTheAccount(t *testing.T) {
	p := &Transact{Target: "127.0.0.1", Port: losingControl(t, answering(t, transact.Policy{})), Count: 2, Interval: time.Millisecond}
	r, err := p.Do(t.Context())
	_, told := r.Get(measure.AnswerTime)
	if err == nil || !strings.Contains(err.Error(), "account") || r.Status != measure.StatusPartial || r.Metrics[measure.TransactionsDone] != 2 || told {
		t.Errorf("%v: %s, %v", err, r.Status, r.Metrics)
	}
}

// Connections alone are opened anywhere, and where nobody listens each fails.
func TestConnectAlone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // nobody takes them, and the kernel opens them
	if err != nil {
		t.Fatal(err)
	}
	p := &Transact{Target: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Count: 3, Interval: 5 * time.Millisecond, Connect: true}
	r, err := p.Do(t.Context())
	if m := r.Metrics; err != nil || m[measure.TransactionsDone] != 3 || m[measure.ConnectMin] <= 0 || m[measure.TransactionIdeal] <= 0 ||
		m[measure.TransactionIdeal] > m[measure.ConnectMin] || r.Target.Address != "127.0.0.1" {
		t.Errorf("%v, %v", err, r.Metrics)
	}
	l.Close()
	if r, err = p.Do(t.Context()); err != nil || r.Metrics[measure.TransactionsFailed] != 3 {
		t.Errorf("nobody listens: %v, %v", err, r.Metrics)
	}
	if d := p.demand(); d.Responder != "" || d.Bytes <= 0 {
		t.Errorf("it wants %+v", d)
	}
}

// The handshake of TLS counts where it is asked for, and where nobody speaks it each fails.
func TestConnectWithTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	port := server.Listener.Addr().(*net.TCPAddr).Port
	const rounded = 1e-9 // of sums of seconds: a clock's nanosecond
	p := &Transact{Target: "127.0.0.1", Port: port, Count: 3, Interval: 5 * time.Millisecond, Connect: true, TLS: true}
	r, err := p.Do(t.Context())
	if m := r.Metrics; err != nil || m[measure.TransactionsDone] != 3 || m[measure.HandshakeTime] <= 0 ||
		m[measure.TransactionMedian] < m[measure.HandshakeTime]+m[measure.ConnectMin]-rounded || m[measure.TransactionIdeal] <= 0 {
		t.Errorf("%v, %v", err, r.Metrics)
	}
	p.Port, p.Timeout = answering(t, transact.Policy{}), time.Second
	if r, err := p.Do(t.Context()); err != nil || r.Metrics[measure.TransactionsFailed] != 3 {
		t.Errorf("nobody speaks TLS: %v, %v", err, r.Metrics)
	}
}

// Without a responder there is nothing to measure, and the error says what to run.
func TestTransactWithoutResponder(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	r, err := (&Transact{Target: "127.0.0.1", Port: port}).Do(t.Context())
	if err == nil || !strings.Contains(err.Error(), "pathwise respond") || r.Status != measure.StatusFailed {
		t.Errorf("%v, %s", err, r.Status)
	}
}
