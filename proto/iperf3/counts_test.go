package iperf3

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/sock"
)

// Of what the other end counted only the counts of trouble are kept: names from outside become keys of a Result.
func TestCountsFromOutside(t *testing.T) {
	r, err := DecodeResults([]byte(`{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":1,"sender_has_retransmits":1,"streams":[],` +
		`"pathwise":{"software":"s","version":"1","counts":{"Tcp.InCsumErrors":7,"link.rx_crc_errors":2,"link.odd":3,"":4,"<b>":5}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sock.Counts{"Tcp.InCsumErrors": 7, "link.rx_crc_errors": 2}, r.Pathwise.Counts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
