package main

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// ofFetch are the flags of a diagnosis that go with a URL: those that ask nothing of the far end.
var ofFetch = []string{"time", "budget", "explain", "fail-on", "report", "mask", "observed", "expected", "since", "application", "before",
	"program", "ipv4", "ipv6", "json", "quiet", "verbose"}

// isURL says whether a diagnosis is of what comes from a web server.
func isURL(target string) bool { return strings.Contains(target, "://") }

// readURL reads the target of a diagnosis that is a URL, and says which flag does not fit.
func (v *survey) readURL(c *cobra.Command, text string) (err error) {
	if f := flagBeside(c.Flags(), ofFetch...); f != nil {
		return badFlag(f.Name, errors.New("a web server cannot be told; give HOST, where `pathwise respond` runs"))
	}
	v.responder, v.noTransactions, v.reflectors = responderAway, true, nil
	v.target, v.fetch, err = probe.SplitURL(text)
	return err
}

// targetPort is where the target answers, if it does.
func (v *survey) targetPort() int {
	if v.fetch != nil {
		return probe.FetchPort(v.fetch)
	}
	if v.reach != nil { // nothing answers tests yet, and SSH does
		return portOf(v.reach.Address)
	}
	return cmp.Or(v.transfer.Port, iperf3.DefaultPort)
}
