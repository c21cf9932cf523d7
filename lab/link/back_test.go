package link

import "testing"

func parsedShape(t *testing.T, settings ...string) (s Shape) {
	t.Helper()
	for _, one := range settings {
		shape, _, err := ParseSetting(one)
		if err != nil {
			t.Fatal(err)
		}
		s = s.Over(&shape)
	}
	return s
}

func TestBack(t *testing.T) {
	for _, c := range []struct {
		before, after, now []string
		want               string
		all                bool
	}{
		{[]string{"delay=5ms"}, []string{"delay=9ms", "loss=1%"}, []string{"delay=9ms", "loss=1%"}, "{delay: 5ms}", true},
		{[]string{"delay=5ms", "rate=1mbit"}, []string{"delay=5ms"}, []string{"delay=5ms"}, "{rate: 1mbit, delay: 5ms}", true},
		{[]string{"delay=5ms"}, []string{"delay=9ms"}, []string{"delay=9ms", "loss=1%"}, "{delay: 5ms, loss: 1%}", true},
		{[]string{"delay=5ms"}, []string{"delay=9ms", "loss=1%"}, []string{"delay=7ms", "loss=1%"}, "{delay: 7ms}", false},
		{[]string{"loss=1%"}, []string{"loss=1%"}, []string{"loss=2%"}, "{loss: 2%}", true},
		{nil, []string{"down=true"}, nil, "", true},
	} {
		got, all := parsedShape(t, c.now...).Back(parsedShape(t, c.before...), parsedShape(t, c.after...))
		if got.String() != c.want || all != c.all {
			t.Errorf("%v, from %v to %v: back to %s, all %v; want %s, %v", c.now, c.before, c.after, got, all, c.want, c.all)
		}
	}
}

func TestSettingsReadBack(t *testing.T) {
	s := parsedShape(t, "rate=10mbit", "jitter={spread: 2ms, distribution: normal}", "queue={limit: 50p, codel: {}}", "trace=none", "rules=[]")
	var again []string
	for key, value := range s.Settings() {
		again = append(again, key+"="+value)
	}
	if got := parsedShape(t, again...); len(again) != 5 || got.String() != s.String() {
		t.Errorf("%v: reads back as %s, want %s", again, got, s)
	}
	if got, ok := s.Without("rate"); !ok || got.Rate != nil || s.Rate == nil {
		t.Errorf("without the rate: %s, %v", got, ok)
	}
	if _, ok := s.Without("Rate"); ok {
		t.Error("takes away a key that there is not")
	}
	for setting, want := range map[string]bool{"trace=x": true, "jitter={table_file: x}": true, "rules=[{trace: x}]": true, "loss=1%": false} {
		if got := parsedShape(t, setting).NamesFile(); got != want {
			t.Errorf("%s: names a file: %v", setting, got)
		}
	}
}
