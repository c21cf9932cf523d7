package lab

import "testing"

func TestStolen(t *testing.T) {
	before := parseProcessorTime("cpu  100 0 100 700 0 0 0 100 50 0\ncpu0 1 2 3\n")
	if want := (ProcessorTime{1000, 100}); before != want {
		t.Errorf("parsed %v, want %v", before, want)
	}
	for text, want := range map[string]string{
		"cpu  600 0 100 1150 0 0 0 150 50 0\n": "the hypervisor gave 5.0 % of the processors' time to others",
		"cpu  600 0 100 1195 0 0 0 105 50 0\n": "",
		"cpu  nonsense\n":                      "",
	} {
		if got := DescribeStolen(parseProcessorTime(text).StolenSince(before)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
