package owamp

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/control"
)

// opened are the two ends of a connection in open mode, by what is written to them.
func opened(t testing.TB, wire []byte) (*control.Connection, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	in := io.MultiReader(bytes.NewReader(control.SetUp{Mode: control.Open}.Encode()), bytes.NewReader(wire))
	c, err := control.Answer(struct {
		io.Reader
		io.Writer
	}{in, &out}, control.Offer{Modes: control.Open})
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	return c, &out
}

func exampleSession(records int) (Session, control.Request) {
	terms := Terms{Packets: 3000, Slots: []Slot{Exponential(time.Second), Fixed(5)}, Padding: 7, Timeout: time.Second, DSCP: 46,
		Start: time.Unix(1e9, 5)}
	s := Session{ID: control.SID{1, 2, 3}, Terms: terms, Finished: true, Next: 2990, Skipped: []Skip{{3, 5}, {9, 9}, {11, 20}}}
	for i := range records {
		s.Records = append(s.Records, Record{uint32(i), 0x8001, 0x0002, control.Timestamp(i), control.Timestamp(2 * i), uint8(i)})
	}
	q := terms.request()
	q.SID, q.ServerReceives = s.ID, true
	return s, q
}

// A session is fetched as it was, whatever the number of its records leaves of a block.
func TestFetchMessages(t *testing.T) {
	for _, records := range []int{0, 1, 15, 16, 17, recordsAtOnce, recordsAtOnce + 1, 2500} {
		want, q := exampleSession(records)
		c, out := opened(t, nil)
		if err := sendSession(&c.Writer, q, want, func() {}); err != nil {
			t.Fatal(err)
		}
		if out.Len()%control.BlockBytes != 0 {
			t.Errorf("%d records: %d bytes are no whole blocks", records, out.Len())
		}
		c, _ = opened(t, out.Bytes())
		got, err := receiveSession(&c.Reader, records, func() {})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%d records: %v\n%s", records, err, diff)
		}
		if c, _ = opened(t, out.Bytes()); records > 0 {
			if _, err := receiveSession(&c.Reader, records-1, func() {}); err == nil {
				t.Errorf("%d records are taken where %d are the most", records, records-1)
			}
		}
	}
	f := fetch{5, lastSequence, control.SID{1, 2}}
	if got := decodeFetch(f.encode()); got != f {
		t.Errorf("%+v, want %+v", got, f)
	}
}

func TestStopMessages(t *testing.T) {
	for _, want := range [][]stopped{
		nil,
		{{id: control.SID{1}, next: 5}},
		{{control.SID{1}, 5, []Skip{{1, 1}}}, {control.SID{2}, 50, []Skip{{1, 1}, {3, 9}}}, {control.SID{3}, 50, []Skip{{1, 1}, {3, 9}, {12, 13}}}},
	} {
		c, out := opened(t, nil)
		if err := sendStop(&c.Writer, control.OK, want); err != nil {
			t.Fatal(err)
		}
		c, _ = opened(t, out.Bytes())
		first := make([]byte, control.BlockBytes)
		if err := c.Read(first); err != nil {
			t.Fatal(err)
		}
		got, why, err := receiveStop(&c.Reader, first, len(want))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(stopped{})); err != nil || why != control.OK || diff != "" {
			t.Errorf("%v, %v:\n%s", why, err, diff)
		}
		if _, _, err := receiveStop(&c.Reader, first, len(want)-1); len(want) > 0 && err == nil {
			t.Errorf("%d sessions are taken where there are fewer", len(want))
		}
	}
	for _, bad := range [][]Skip{{{5, 4}}, {{1, 5}, {5, 6}}, {{7, 8}, {1, 2}}} {
		if _, err := decodeSkips(encodeSkips(bad), len(bad)); err == nil {
			t.Errorf("%v: taken", bad)
		}
	}
}

// FuzzCommands has both ends read whatever the other may send.
func FuzzCommands(f *testing.F) {
	s, q := exampleSession(20)
	c, out := opened(f, nil)
	_ = sendSession(&c.Writer, q, s, func() {})
	f.Add(bytes.Clone(out.Bytes()))
	out.Reset()
	_ = sendRequest(&c.Writer, q, s.Terms.Slots)
	f.Add(bytes.Clone(out.Bytes()))
	out.Reset()
	_ = sendStop(&c.Writer, control.OK, []stopped{{control.SID{1}, 5, []Skip{{1, 1}, {3, 4}}}})
	f.Add(bytes.Clone(out.Bytes()))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, _ := opened(t, b)
		_, _ = receiveSession(&c.Reader, 1000, func() {})
		c, _ = opened(t, b)
		first := make([]byte, control.BlockBytes)
		if c.Read(first) != nil {
			return
		}
		if sent, _, err := receiveStop(&c.Reader, first, 10); err == nil && len(sent) > 10 {
			t.Errorf("%d sessions", len(sent))
		}
		c, _ = opened(t, b[control.BlockBytes:])
		if q, slots, asked, err := receiveRequest(&c.Reader, first); err == nil && asked == nil {
			if terms, ok := termsOf(q, slots); ok && terms.Validate() != nil {
				t.Errorf("%+v is taken for terms", terms)
			}
		}
	})
}
