package lab

import "testing"

func TestStolen(t *testing.T) {
	before := parseProcessorTime("cpu  100 0 100 700 20 0 0 80 50 0\ncpu0 1 2 3\n")
	if want := (ProcessorTime{All: 1000, Idle: 720, Stolen: 80}); before != want {
		t.Errorf("parsed %v, want %v", before, want)
	}
	for text, want := range map[string]string{
		"cpu  600 0 100 1170 0 0 0 130 50 0\n": "the hypervisor gave 5.0 % of the processors' time to others",
		"cpu  600 0 100 1215 0 0 0 85 50 0\n":  "",
		"cpu  nonsense\n":                      "",
	} {
		if got := DescribeStolen(parseProcessorTime(text).StolenSince(before)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Time that was not idle was busy; a processor that waits for a disk is idle.
func TestBusy(t *testing.T) {
	before := parseProcessorTime("cpu  100 0 100 700 20 0 0 80 50 0\n")
	for text, want := range map[string]float64{
		"cpu  150 0 175 1075 20 0 0 80 99 0\n": 0.25,
		"cpu  100 0 100 700 120 0 0 80 50 0\n": 0,
		"cpu  nonsense\n":                      0,
	} {
		if got := parseProcessorTime(text).BusySince(before); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
