package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/echo"
	"github.com/pathwise-net/pathwise/terminal"
)

// manyOf is a ping of the hosts of texts, of which names have no address, as it is when it begins.
func manyOf(t testing.TB, s *session, count, keep int, texts ...string) *manyPing {
	t.Helper()
	m := &manyPing{session: s, asked: &probe.Ping{Interval: 10 * time.Millisecond}, socket: "datagram", keep: keep, began: time.Unix(1000, 0)}
	for _, text := range texts {
		if err := m.list.Add(text, ""); err != nil {
			t.Fatal(err)
		}
	}
	find := func(context.Context, string, string) ([]netip.Addr, error) { return nil, nil }
	if err := m.prepare(m.list.Resolve(t.Context(), find, "")); err != nil {
		t.Fatal(err)
	}
	m.pinger.Count, m.keep = count, keep
	return m
}

// tells are the events of a target, a letter for a request: how many milliseconds its answer took, x of one that was lost, e of one that met an ICMP error, and
// u of one that could not be sent.
func (m *manyPing) tells(target int, letters string) {
	for i, letter := range letters {
		e := echo.Event{Target: target, Sequence: m.targets[target].next(), SentAt: time.Duration(i) * 10 * time.Millisecond}
		m.tell(e)
		switch letter {
		case 'x':
			e.Fate = echo.Lost
		case 'e':
			e.Fate, e.From, e.Why, e.TTL = echo.Refused, netip.MustParseAddr("192.0.2.254"), "host unreachable", 63
		case 'u':
			e.Fate, e.Why = echo.Refused, "no route to host"
		default:
			e.Fate, e.RTT, e.Kernel, e.TTL = echo.Answered, time.Duration(letter-'0')*time.Millisecond, true, 64
		}
		m.tell(e)
	}
}

// next is the number of the next request, where each was sent.
func (t *manyTarget) next() uint32 { return uint32(t.sent) }

func TestManyRows(t *testing.T) {
	m := manyOf(t, &session{}, 4, 4, "192.0.2.0/29", "carol.example")
	for i, letters := range []string{"1234", "5x99", "xxxx", "eeee", "u", ""} {
		m.tells(i, letters)
	}
	var out bytes.Buffer
	m.printRows(&out)
	want := `target         sent  answered    lost      min   median  p95      max
192.0.2.1         4         4  0.00 %  1.00 ms  2.50 ms    -  4.00 ms
192.0.2.2         4         3  25.0 %  5.00 ms  9.00 ms    -  9.00 ms
192.0.2.3         4         0   100 %        -        -    -        -
192.0.2.4         4         0   100 %        -        -    -        -  host unreachable, said 192.0.2.254
192.0.2.5         0         0       -        -        -    -        -  ping 192.0.2.5: send: no route to host
192.0.2.6         0         0       -        -        -    -        -
carol.example     0         0       -        -        -    -        -  resolve "carol.example": no such host; check the name or give an address
7 targets: 1 answers all, 1 loses some, 2 are silent, 2 could not be asked, 1 has not answered yet. The slowest, 192.0.2.2, takes 9.00 ms as a rule.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +printed):\n%s", diff)
	}
}

func TestManyRanges(t *testing.T) {
	for _, c := range []struct{ give, want string }{
		{"192.0.2.0/29", "192.0.2.1 to 192.0.2.6"},
		{"192.0.2.4/31 2001:db8::/127 192.0.2.7 192.0.2.9", "192.0.2.4, 192.0.2.5, 2001:db8::, 2001:db8::1, 192.0.2.7, 192.0.2.9"},
		{"a.example 192.0.2.255 192.0.3.0 192.0.3.1 b.example", "192.0.2.255 to 192.0.3.1, a.example, b.example"},
	} {
		m := manyOf(t, &session{}, 1, 1, strings.Fields(c.give)...)
		if got := strings.Join(ranges(m.targets), ", "); got != c.want {
			t.Errorf("%s: %s, want %s", c.give, got, c.want)
		}
	}
}

// Where more requests are asked for than are kept, a target has several Results; each is of its own requests, and all are printed once.
func TestManyParts(t *testing.T) {
	var out bytes.Buffer
	m := manyOf(t, &session{out: &out, json: true}, 8, 3, "192.0.2.1", "192.0.2.2")
	m.tells(0, "12x45")
	m.tells(1, "xx")
	if lines := strings.Count(out.String(), "\n"); lines != 1 {
		t.Errorf("%d Results are printed on the way, want that of the first three", lines)
	}
	m.emitRest(errors.New("enough"))
	type part struct {
		Target, Status, Error string
		Count                 float64
		Seqs                  []int
		Received              float64
	}
	var got []part
	for lines := json.NewDecoder(&out); lines.More(); {
		var r measure.Result
		if err := lines.Decode(&r); err != nil {
			t.Fatal(err)
		}
		p := part{Target: r.Target.Address, Status: string(r.Status), Count: r.Parameters["count"].(float64), Received: r.Metrics[measure.ReceivedPackets]}
		if r.Error != nil {
			p.Error = *r.Error
		}
		for _, e := range r.Samples.Echoes {
			p.Seqs = append(p.Seqs, e.Seq)
		}
		got = append(got, p)
	}
	want := []part{
		{"192.0.2.1", "ok", "", 3, []int{1, 2, 3}, 2},
		{"192.0.2.1", "partial", "ping 192.0.2.1: enough", 3, []int{4, 5}, 2},
		{"192.0.2.2", "partial", "ping 192.0.2.2: enough", 3, []int{1, 2}, 0},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || m.wrong != nil {
		t.Errorf("%v (-want +got):\n%s", m.wrong, diff)
	}
}

// On a terminal the hosts of a prefix are a table, with the worst first, that fits; Ctrl-C leaves it there.
func TestPingManyOnATerminal(t *testing.T) {
	t.Parallel()
	lines, _, err := onTerminal(t, 80, 24, "and 18 more", func(user *os.File) {
		if _, err := user.WriteString("\x03"); err != nil {
			t.Error(err)
		}
	}, "ping", "127.0.0.0/27", "-c", "1000", "-i", "0.05")
	if err == nil {
		t.Error("ended as if all was done")
	}
	showsInOrder(t, lines, `^host +sent +lost +last`, `^127\.0\.0\.\d+ +\d+ +0 `, `^and 18 more, which answer all, within .* as a rule$`,
		`^request \d+ of 1000$`, `^30 targets: 30 answer all\. The slowest, 127`, `^pathwise: ping 30 targets: interrupt signal received$`)
}

// drawManyPings draws a network of which one host loses packets, some are slow, and the upper half is silent but for one.
func drawManyPings(screen *terminal.Screen, w io.Writer) {
	m := &manyPing{session: &session{out: w, seen: screen}, asked: &probe.Ping{}}
	if err := m.list.Add("192.0.2.0/26", ""); err != nil {
		panic(err)
	}
	if err := m.prepare(nil); err != nil {
		panic(err)
	}
	for i := range m.targets {
		switch letters := "2322332232"; {
		case i == 6:
			m.tells(i, "78x9x7889x")
		case i < 30 || i == 40:
			m.tells(i, letters[i%5:]+letters[:i%5])
		default:
			m.tells(i, "xxxxxxxxxx")
		}
	}
	m.printScreen(w)
}
