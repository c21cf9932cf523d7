package main

import (
	"slices"
	"testing"
)

// The rates of links are read as pchar 1.5 prints them, and as a Result has them.
func TestReadLinks(t *testing.T) {
	const pchar = ` 0: 10.0.0.1 (10.0.0.1)
    Partial char:      rtt = 2.069546 ms, (b = 0.000078 ms/B), r2 = 0.987089
    Hop char:          rtt = 2.069546 ms, bw = 102061.251524 Kbps
 1: 10.0.0.2 (10.0.0.2)
    Hop char:          rtt = --.--- ms, bw = --.--- Kbps
 2: 10.0.1.2 (10.0.1.2)
    Path bottleneck:   19795.368651 Kbps
`
	if got, err := readPchar(pchar); err != nil || !slices.Equal(got, []float64{102061251.524, 0}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := readPchar("pchar: cannot resolve host"); err == nil {
		t.Error("no links, and no error")
	}
	const result = `{"samples": {"links": [{"ttl": 1, "capacity": {"bits_per_second": 2e7, "certain": true}}, {"ttl": 2, "capacity": {"bits_per_second": 9e9}}]}}`
	if got, err := readLinks(result); err != nil || !slices.Equal(got, []float64{2e7, 0}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestReadSent(t *testing.T) {
	const dev = "Inter-|   Receive  |  Transmit\n    lo:  9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n  eth0: 1234 11 0 0 0 0 0 0 5678 22 0 0 0 0 0 0\n"
	if packets, bytes, err := readSent(dev); packets != 22 || bytes != 5678 || err != nil {
		t.Errorf("%v packets, %v bytes, %v", packets, bytes, err)
	}
	if _, _, err := readSent("nothing"); err == nil {
		t.Error("no counts, and no error")
	}
}
