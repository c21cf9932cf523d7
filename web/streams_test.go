package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/measure"
)

const rtt = `{"source": "a", "target": "b", "tool": "rtt", "patience_seconds": 60}`

// lines reads what a run's answer holds, until it ends.
func lines(t *testing.T, answer *http.Response) (all []RunLine) {
	t.Helper()
	defer answer.Body.Close()
	for decoder := json.NewDecoder(answer.Body); decoder.More(); {
		var l RunLine
		if err := decoder.Decode(&l); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}

// A run tells when it begins, what it shows, and its Result.
func TestRun(t *testing.T) {
	b := newBench(t)
	b.run()
	close(b.hub.held)
	b.serve(b.Handler(owner))
	answer := b.call(t.Context(), http.MethodPost, "/api/v1/runs", rtt)
	all := lines(t, answer)
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "application/x-ndjson" || len(all) != 3 {
		t.Fatalf("%s: %+v", answer.Status, all)
	}
	if all[0].Begins == nil || all[0].Run == "" || all[1].Progress.Line != "begun" || all[2].Progress.Result.ID != all[0].Run {
		t.Errorf("lines %+v", all)
	}
}

// What a run cannot be is told before it is anything, by a status that says whose it is to mend.
func TestRunRefused(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(owner))
	b.expect(http.MethodPost, "/api/v1/runs", rtt, http.StatusServiceUnavailable, "try again")
	b.run()
	for _, c := range []struct {
		body string
		want int
		has  string
	}{
		{"", 400, "body"}, {"[]", 422, "body"}, {`{"sauce": "a"}`, 422, "sauce"}, {strings.Repeat(" ", maxBody+1), 413, "too large"},
		{`{"source": "x", "target": "b", "tool": "rtt"}`, 422, `source: \"x\": want a host of the mesh file`},
		{`{"source": "a", "target": "b", "tool": "rtt", "parameters": {"count": -1}}`, 422, "count"},
		{`{"source": "a", "target": "b", "tool": "rtt", "patience_seconds": -1}`, 422, `patience_seconds","value":-1`},
		{`{"source": "a", "target": "b", "tool": "rtt", "patience_seconds": 1e300}`, 422, "patience_seconds"},
	} {
		b.expect(http.MethodPost, "/api/v1/runs", c.body, c.want, c.has)
	}
	// These fail when their hosts are asked, after the run had its time: the answer has begun.
	for target, want := range map[string]string{"gone": "away", "strict": "no"} {
		source := target
		answer := b.call(t.Context(), http.MethodPost, "/api/v1/runs", `{"source": "`+source+`", "target": "b", "tool": "rtt"}`)
		all := lines(t, answer)
		if len(all) != 2 || all[1].Error == "" || !strings.Contains(all[1].Error, want) {
			t.Errorf("%s: %+v", target, all)
		}
	}
}

// A client that goes away ends its run: it is called back.
func TestRunEndsWithItsClient(t *testing.T) {
	b := newBench(t)
	b.run()
	b.serve(b.Handler(owner))
	ctx, cancel := context.WithCancel(t.Context())
	answer := b.call(ctx, http.MethodPost, "/api/v1/runs", rtt)
	defer answer.Body.Close()
	var first, second RunLine
	decoder := json.NewDecoder(answer.Body)
	if err := errors.Join(decoder.Decode(&first), decoder.Decode(&second)); err != nil || second.Progress == nil {
		t.Fatalf("%+v, %+v, %v", first, second, err)
	}
	cancel() // while the run is under way
	if id := <-b.hub.canceled; id != first.Run {
		t.Errorf("called back %s, want %s", id, first.Run)
	}
	b.eventually("the run is over", func() bool { return b.Control.Overview().OnDemand == 0 })
	close(b.hub.held)
}

// Events come as they happen, and their stream ends with its client and with the server, which leaves nothing behind.
func TestEvents(t *testing.T) {
	b := newBench(t)
	before := runtime.NumGoroutine()
	closed := b.serve(b.Handler(public))
	ctx, cancel := context.WithCancel(t.Context())
	first := b.call(ctx, http.MethodGet, "/api/v1/events", "")
	second := b.call(t.Context(), http.MethodGet, "/api/v1/events", "")
	defer first.Body.Close()
	defer second.Body.Close()
	b.run() // makes a plan
	for _, answer := range []*http.Response{first, second} {
		text := bufio.NewReader(answer.Body)
		if begin, err := text.ReadString('\n'); begin != ":\n" || err != nil {
			t.Errorf("the stream begins with %q, %v", begin, err)
		}
		_, _ = text.ReadString('\n')
		kind, err := text.ReadString('\n')
		data, err2 := text.ReadString('\n')
		var e control.Event
		if err := errors.Join(err, err2, json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &e)); err != nil {
			t.Fatal(err)
		}
		if kind != "event: plan\n" || e.Plan == 0 || answer.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%q %q of %s", kind, data, answer.Header)
		}
	}
	cancel()
	if err := closed(); err != nil {
		t.Error(err)
	}
	if _, err := bufio.NewReader(second.Body).ReadString(0); err == nil {
		t.Error("the stream goes on after the server's end")
	}
	http.DefaultClient.CloseIdleConnections()
	b.eventually("the streams' goroutines are over", func() bool { return runtime.NumGoroutine() <= before+4 }) // those of run
}

// What streams says that it lives while nothing happens, and ends with its caller's right to it.
func TestStreamsEndWithTheRight(t *testing.T) {
	b := newBench(t)
	b.run()
	b.beat = 20 * time.Millisecond
	b.serve(b.Handler(Listener{Secure: true}))
	token := []string{"Authorization", "Bearer " + b.token("alice")}
	events := b.call(t.Context(), http.MethodGet, "/api/v1/events", "", token...)
	defer events.Body.Close()
	beats := make([]byte, len(":\n\n:\n\n"))
	if _, err := io.ReadFull(events.Body, beats); err != nil || string(beats) != ":\n\n:\n\n" {
		t.Errorf("events begin with %q, %v", beats, err)
	}
	run := b.call(t.Context(), http.MethodPost, "/api/v1/runs", rtt, token...)
	defer run.Body.Close()
	text := bufio.NewReader(run.Body)
	for line := "?"; line != "\n"; {
		var err error
		if line, err = text.ReadString('\n'); err != nil {
			t.Fatalf("no empty line: %v", err)
		}
	}
	if err := b.Accounts.RemoveToken(account.Actor{Identity: account.Owner()}, "alice"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, events.Body); err != nil {
		t.Errorf("events: %v", err)
	}
	if rest, err := io.ReadAll(text); err != nil || !strings.Contains(string(rest), `{"error":"the session or token has ended`) {
		t.Errorf("the run ends with %q, %v", rest, err)
	}
	<-b.hub.canceled
	close(b.hub.held)
}

// A list that cannot be finished is cut off, so that nobody takes the part for the whole.
func TestBrokenExport(t *testing.T) {
	b := newBench(t)
	b.filed()
	b.Archive = halting{b.Archive}
	b.serve(b.Handler(public))
	for _, format := range []string{"jsonl", "csv"} {
		answer, err := http.Get(b.url + "/api/v1/results?format=" + format)
		if err != nil {
			continue // cut off before anything came
		}
		_, err = bufio.NewReader(answer.Body).ReadString(0)
		answer.Body.Close()
		if err == nil || err.Error() == "EOF" {
			t.Errorf("%s: ended as if it were whole", format)
		}
	}
}

// halting is an archive that lists one Result and then fails.
type halting struct{ archive.Archive }

func (h halting) All(ctx context.Context, q archive.ResultQuery) iter.Seq2[*measure.Result, error] {
	return func(yield func(*measure.Result, error) bool) {
		for r, err := range h.Archive.All(ctx, q) {
			if yield(r, err) {
				yield(nil, errMissing)
			}
			return
		}
	}
}

// brokenListener is one whose socket is lost.
type brokenListener struct{ net.Listener }

func (brokenListener) Accept() (net.Conn, error) { return nil, errMissing }
func (brokenListener) Close() error              { return nil }
func (brokenListener) Addr() net.Addr            { return &net.TCPAddr{} }

// Serve says why it could not.
func TestServeTellsWhy(t *testing.T) {
	b := newBench(t)
	closed := b.serve(b.Handler(public))
	if err := closed(); err != nil {
		t.Errorf("ended by its context: %v", err)
	}
	l := brokenListener{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := public.Serve(ctx, l, b.Handler(public), b.Log); !errors.Is(err, errMissing) {
		t.Errorf("a listener that fails: %v", err)
	}
}
