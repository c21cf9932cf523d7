package iperf3

import "testing"

// A test is stuck in which no connection had a large packet come through.
func TestStuck(t *testing.T) {
	for _, c := range []struct {
		moved []int64
		want  bool
	}{
		{[]int64{0, 0}, true}, {[]int64{535}, true}, {[]int64{536}, false}, {[]int64{0, 1448}, false},
	} {
		transfer := newTransfer(Params{})
		for _, bytes := range c.moved {
			s := &stream{}
			s.count.Store(bytes)
			transfer.streams = append(transfer.streams, s)
		}
		if got := transfer.stuck(); got != c.want {
			t.Errorf("moved %v: stuck %v, want %v", c.moved, got, c.want)
		}
	}
}
