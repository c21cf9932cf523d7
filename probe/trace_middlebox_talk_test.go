package probe

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// talkSegment is one of the far end's.
func talkSegment(seq, ack uint32, flags byte, data string) []byte {
	s := segment{from: 4443, to: 50000, seq: seq, ack: ack, flags: flags}
	b := s.marshalWith(nil, []byte(data), traceFlows()[0].to.Addr(), traceFlows()[0].from.Addr())
	return b
}

func newTalk() *talk { return &talk{own: 50000, far: 4443, next: 1000} }

// A connection opens, is answered and ends by segments with the right numbers alone; what strangers send changes nothing.
func TestTalk(t *testing.T) {
	type made struct {
		open    bool
		refused bool
		line    string
	}
	open := talkSegment(77, 1000, flagSYN|flagACK, "")
	for name, c := range map[string]struct {
		packets [][]byte
		want    made
	}{
		"a line in two parts, the second sent twice, and more": {[][]byte{open, talkSegment(78, 1100, flagACK, "ab"), talkSegment(78, 1100, flagACK, "ab"), talkSegment(80, 1100, flagACK, "c\nd")}, made{true, false, "abc\n"}},
		"an end without a line":                                {[][]byte{open, talkSegment(78, 1100, flagACK, "ab"), talkSegment(80, 1100, flagACK|flagFIN, "")}, made{true, false, "ab"}},
		"refused":                                              {[][]byte{talkSegment(0, 1000, flagRST|flagACK, "")}, made{refused: true}},
		"reset":                                                {[][]byte{open, talkSegment(78, 1100, flagRST, "")}, made{open: true, refused: true}},
		"a SYN ACK with another number":                        {[][]byte{talkSegment(77, 1001, flagSYN|flagACK, ""), open}, made{open: true}},
		"a SYN without ACK":                                    {[][]byte{talkSegment(77, 1000, flagSYN, "")}, made{}},
		"a refusal with another number":                        {[][]byte{talkSegment(0, 999, flagRST|flagACK, ""), open}, made{open: true}},
		"a reset with another number":                          {[][]byte{open, talkSegment(79, 1100, flagRST, ""), talkSegment(78, 1100, flagACK, "a\n")}, made{true, false, "a\n"}},
		"an end with another number":                           {[][]byte{open, talkSegment(79, 1100, flagFIN|flagACK, ""), talkSegment(78, 1100, flagACK, "a\n")}, made{true, false, "a\n"}},
		"data with another number":                             {[][]byte{open, talkSegment(90, 1100, flagACK, "x\n"), talkSegment(78, 1100, flagACK, "a\n")}, made{true, false, "a\n"}},
		"a segment that is cut, and one of another port":       {[][]byte{open[:19], {0x11, 0x5b}, nil, append([]byte{0}, open...), open}, made{open: true}},
	} {
		one, got := newTalk(), made{}
		for _, p := range c.packets {
			var whole bool
			var err error
			if !got.open {
				got.open, err = one.opened(p)
			} else {
				whole, _, err = one.take(p)
			}
			if got.refused = errors.Is(err, errTalkRefused); whole {
				got.line = string(one.line())
			}
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(made{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// Whatever segments come, an answer has an end, and a line of it is one.
func FuzzTalk(f *testing.F) {
	f.Add(talkSegment(77, 1000, flagSYN|flagACK, ""), talkSegment(78, 1100, flagACK, "ab\nc"))
	f.Add(talkSegment(77, 1000, flagRST|flagACK, ""), talkSegment(78, 1100, flagFIN, "x"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for _, theirs := range []uint32{78, 0xffffffff} {
			one := newTalk()
			if open, err := one.opened(first); open && err != nil {
				t.Errorf("open, and %v", err)
			}
			one.theirs = theirs
			for range 3 {
				whole, data, err := one.take(second)
				if one.theirs-theirs != uint32(len(one.answer)) || data && len(second) <= segmentHeader || whole && err != nil {
					t.Errorf("from %d to %d with %d bytes; data %v, whole %v, %v", theirs, one.theirs, len(one.answer), data, whole, err)
				}
			}
			if line := one.line(); bytes.Count(line, []byte("\n")) > 1 || !bytes.HasPrefix(one.answer, line) {
				t.Errorf("line %q of %q", line, one.answer)
			}
		}
	})
}
