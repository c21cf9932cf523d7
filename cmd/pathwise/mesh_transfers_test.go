package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/record"
)

const (
	// A lab's truth is of a flow, which is all that two ports ever said to each other. In an hour a port is used again, so the
	// transfers are noted as they happen: every lookEvery, what was sent in the last lookBack.
	lookEvery = 5 * time.Second
	lookBack  = 15 * time.Second
	// pauseAtMost is how long a transfer may send nothing.
	pauseAtMost = 5 * time.Second
)

// transferBytes are fewer than any test that fills a link sends, and more than two ends say to each other beside one.
const transferBytes = 100_000

// isTest says whether a flow is of a test that fills a link: to one of the ports that the mesh file's default gives hosts.
func isTest(f record.FlowTruth) bool {
	return f.Protocol != "icmp" && f.TargetPort >= 5201 && f.TargetPort <= 5300
}

// watchTransfers notes the transfers of tests that fill a link until the test ends. seen returns them.
func (m *meshLab) watchTransfers() (seen func() []record.FlowTruth) {
	ctx, cancel := context.WithCancel(m.t.Context())
	ended := make(chan struct{})
	var all []record.FlowTruth
	go func() {
		defer close(ended)
		for tick := time.NewTicker(lookEvery); ; {
			truth, err := m.lab.TruthOf(lab.Window{From: -lookBack.Seconds()})
			if err != nil {
				m.t.Errorf("watch transfers: %v", err)
				return
			}
			for _, f := range truth.Flows {
				if isTest(f) {
					all = addSighting(all, f)
				}
			}
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	end := func() { cancel(); <-ended }
	m.t.Cleanup(end)
	return func() []record.FlowTruth {
		end()
		return slices.DeleteFunc(all, func(f record.FlowTruth) bool { return f.Bytes < transferBytes })
	}
}

// addSighting adds what was seen of a flow in a window to what was seen before.
func addSighting(all []record.FlowTruth, f record.FlowTruth) []record.FlowTruth {
	for i := range slices.Backward(all) {
		known := &all[i]
		if known.Name == f.Name && f.FirstSentSeconds <= known.LastSentSeconds+pauseAtMost.Seconds() {
			known.LastSentSeconds = max(known.LastSentSeconds, f.LastSentSeconds)
			known.Bytes = max(known.Bytes, f.Bytes)
			return all
		}
	}
	return append(all, f)
}

func TestAddSighting(t *testing.T) {
	flow := func(name string, bytes uint64, first, last float64) record.FlowTruth {
		return record.FlowTruth{Name: name, Bytes: bytes, FirstSentSeconds: first, LastSentSeconds: last}
	}
	var all []record.FlowTruth
	for _, f := range []record.FlowTruth{
		flow("a", 10, 1, 3), flow("b", 5, 2, 4), flow("a", 30, 1, 8), flow("a", 20, 7, 9), flow("a", 7, 1000, 1001),
	} {
		all = addSighting(all, f)
	}
	want := []record.FlowTruth{flow("a", 30, 1, 9), flow("b", 5, 2, 4), flow("a", 7, 1000, 1001)}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("transfers (-want +got):\n%s", diff)
	}
}
