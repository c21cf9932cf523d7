package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go"

	"github.com/pathwise-net/pathwise/measure"
)

// Whatever a message says of its length, and however it is made, it unpacks to what is allowed at most, and takes no more
// memory than that before it is refused.
func TestBombs(t *testing.T) {
	p, err := newPacker()
	if err != nil {
		t.Fatal(err)
	}
	const most = 1 << 20
	zeros := make([]byte, 64*most)
	unsized := func(data []byte) []byte { // a frame that does not say its length
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b)
		if err == nil {
			_, err = w.Write(data)
		}
		if err == nil {
			err = w.Flush()
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	small, skippable := p.compress([]byte("small")), []byte{0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 'x'}
	for name, bomb := range map[string][]byte{
		"says it":               p.compress(zeros),
		"does not say it":       unsized(zeros),
		"after a small one":     append(bytes.Clone(small), p.compress(zeros)...),
		"after one without":     append(unsized([]byte("x")), unsized(zeros)...),
		"after what is skipped": append(bytes.Clone(skippable), p.compress(zeros)...),
		"many":                  bytes.Repeat(p.compress(zeros[:most]), 64),
		"is none":               []byte("none"),
		"is empty":              nil,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		raw, err := p.decompress(bomb, most)
		runtime.ReadMemStats(&after)
		if err == nil && len(raw) > 0 {
			t.Errorf("a bomb that %s unpacked to %d bytes", name, len(raw))
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 16*most {
			t.Errorf("a bomb that %s took %d bytes", name, took)
		}
	}
	if raw, err := p.decompress(p.compress(zeros[:most]), most); err != nil || len(raw) != most {
		t.Errorf("what is as long as allowed: %d bytes, %v", len(raw), err)
	}
}

// However many statuses a host sends, one of it waits, the last; and a long one is not read at all.
func TestStatusShare(t *testing.T) {
	q := newHeard()
	for i := range 1000 {
		q.put(&nats.Msg{Subject: subjectStatus + "ucl", Data: fmt.Append(nil, i)})
	}
	q.put(&nats.Msg{Subject: subjectStatus + "ral"})
	for _, want := range []string{"ucl 999", "ral ", " "} {
		host, m := q.next()
		if m == nil {
			m = new(nats.Msg)
		}
		if got := host + " " + string(m.Data); got != want {
			t.Errorf("next is %q, want %q", got, want)
		}
	}
	m := &mesh{keys: testKeyring(t), archive: newTestArchive()}
	s, credentials := testServer(t, m.keys, "127.0.0.1:0", []string{"ucl"})
	m.serve(t, HubConfig{Keys: m.keys, Server: s, Log: testLog(t)})
	nc, _ := stolen(t, credentials["ucl"])
	status := `{"host": "ucl", "plan": 1, "version": "` + noise(maxStatus) + `"}`
	if err := nc.Publish(subjectStatus+"ucl", []byte(status)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the long one is counted", func() bool { return m.hub.Poison() == 1 })
	if err := nc.Publish(subjectStatus+"ucl", make([]byte, 8<<20)); !errors.Is(err, nats.ErrMaxPayload) {
		t.Errorf("a message of 8 MB: %v, want ErrMaxPayload", err)
	}
}

// A plan that no message holds comes in pieces.
func TestLongPlan(t *testing.T) {
	m, _, a := lonelyMesh(t, time.Now)
	p := Plan{Host: "ucl", Number: 3, Runs: []measure.Run{{ID: noise(6 * pieceBytes)}}}
	if err := m.hub.Plan(within(t), p); err != nil {
		t.Fatal(err)
	}
	m.reports(t, "ucl", 3)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.plan.Runs) != 1 || a.plan.Runs[0].ID != p.Runs[0].ID {
		t.Error("the plan is not what was sent")
	}
}
