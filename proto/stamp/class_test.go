package stamp

import "testing"

// What a reflector writes of marks is read again, and one wanted mark that it refuses is not the one that its answer leaves with.
func TestClass(t *testing.T) {
	for name, c := range map[string]struct {
		wanted, tos int
		marks       []int
		want        Class
		left        int
	}{
		"as it was sent":        {46, 46 << 2, nil, Class{Wanted: 46, DSCP: 46}, 46},
		"bleached":              {46, 0, nil, Class{Wanted: 46, Refused: true}, 0},
		"bleached, and allowed": {46, 0, []int{46}, Class{Wanted: 46}, 46},
		"congestion met":        {10, 8<<2 | 3, nil, Class{Wanted: 10, DSCP: 8, ECN: 3, Refused: true}, 8},
		"marked on the way":     {0, 8 << 2, nil, Class{DSCP: 8}, 0},
	} {
		value := make([]byte, ClassBytes)
		Class{Wanted: c.wanted}.Put(value)
		tos := seen{tos: c.tos, marks: c.marks}.class(value)
		got, ok := ReadClass(value)
		if !ok || got != c.want || got.Left() != c.left || tos>>2 != c.left {
			t.Errorf("%s: %+v, left with %d and %d; want %+v, %d", name, got, got.Left(), tos>>2, c.want, c.left)
		}
		again := make([]byte, ClassBytes)
		if got.Put(again); string(again) != string(value) {
			t.Errorf("%s: written again it is %x, not %x", name, again, value)
		}
	}
	if _, ok := ReadClass(make([]byte, 3)); ok {
		t.Error("three bytes are read")
	}
}
