package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestReadFpingTotals(t *testing.T) {
	got, err := readFpingTotals(`127.1.0.1 : xmt/rcv/%loss = 3/3/0%, min/avg/max = 0.020/0.028/0.035
127.1.0.20 : xmt/rcv/%loss = 3/1/66%, min/avg/max = 0.008/0.008/0.008
192.0.2.9  : xmt/rcv/%loss = 3/0/100%
`)
	want := answers{Sent: 9, Answered: 4, RTTMean: (3*28e-6 + 8e-6) / 4}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" || err != nil {
		t.Errorf("%v; -want +got\n%s", err, diff)
	}
	if _, err := readFpingTotals("fping: can't create socket"); err == nil {
		t.Error("read totals of a complaint")
	}
}

func TestReadAnswers(t *testing.T) {
	got, err := readAnswers(`{"schema":"pathwise.result/2","metrics":{"sent_packets":4,"received_packets":3,"rtt_mean_seconds":0.001}}
{"schema":"pathwise.result/2","metrics":{"sent_packets":4,"received_packets":1,"rtt_mean_seconds":0.005}}
{"schema":"pathwise.result/2","metrics":{"sent_packets":4,"received_packets":0}}
`)
	if diff := cmp.Diff(answers{12, 4, 0.002}, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" || err != nil {
		t.Errorf("%v; -want +got\n%s", err, diff)
	}
	for _, printed := range []string{"no", "", `{"schema":"pathwise.result/2"}`} {
		if _, err := readAnswers(printed); err == nil {
			t.Errorf("read answers of %q", printed)
		}
	}
}
