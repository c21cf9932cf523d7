package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// middleboxLabs are what routers on the way from bob to carol do, and what a trace is to say of it.
var middleboxLabs = []struct {
	name, chain, routers, more string
	responds                   bool
	rules                      string // of bob's own kernel, by nft; "": none
	want                       []string
	proxy                      *measure.Proxy
}{
	// Each router changes what leaves it, so that the next one is the first to see it; old quotes 8 bytes alone, and far is the last.
	{name: "many boxes", chain: "a b c old far", routers: "a: {mss: 1380}, b: {dscp: 0}, c: {strip: [sack, mptcp]}, old: {quote: 8, strip: [wscale]}, far: {ecn: bleach}", more: "--dscp=46", responds: true,
		want: []string{"MSS 1460 1380 1-2", "DSCP 46 0 2-3", "window scale 7 none 3-5", "SACK permitted there none 3-5", "Multipath TCP 0101 none 3-5", "ECN 2 0 5-end"}},
	{name: "no responder", chain: "a b c", routers: "a: {strip: [timestamps]}, b: {}, c: {mss: 1000}", more: "-6", want: []string{"time stamps as sent none 1-2"}},
	{name: "sequence numbers", chain: "a b", routers: "a: {}, b: {randomize_sequence: true}", more: "-4", responds: true, want: []string{"sequence number 0-end"}},
	{name: "addresses", chain: "a b c", routers: "a: {nat: {outside: b}}, b: {ecn: bleach}, c: {}", more: "-4", responds: true, want: []string{"ECN 2 0 2-3", "source address 10.0.0.1 10.0.1.1 0-end"}},
	{name: "nothing", chain: "a b", routers: "a: {}, b: {interfaces: true}", more: "-6", responds: true},
	// A kernel between bob's programs and its first link takes all connections to the port: its listener is bob's own responder.
	{name: "a proxy", chain: "a b", routers: "a: {}, b: {}", more: "-4", rules: `table ip p {
	chain out {
		type nat hook output priority -100
		tcp dport 4443 redirect to :4443
	}
}`, proxy: &measure.Proxy{TTL: 1, Distance: 3, Addresses: []string{"10.0.0.2"}}},
}

// A trace names what boxes change, and between which hops.
func TestMiddleboxesInLab(t *testing.T) {
	t.Parallel() // they wait more than they work
	for _, c := range middleboxLabs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("nft"); c.rules != "" && (err != nil || os.Geteuid() != 0) {
				t.Skip("this is not root, or nft is not here")
			}
			l := startLab(t, chainOf(t, c.chain, c.routers))
			respond := lab.Command{Argv: []string{lab.Self(), "respond"}, Env: append(os.Environ(), actAsPathwise+"=1")}
			if c.responds {
				readyOnCarol(t, l, respond)
			}
			if c.rules != "" {
				readyOn(t, l, "bob", respond)
				onHost(t, l, "bob", os.Stderr, "nft", c.rules)
			}
			var out bytes.Buffer
			onHost(t, l, "bob", &out, lab.Self(), "trace", "carol", "--middlebox", "--json", c.more)
			var r measure.Result
			if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Samples.Middleboxes == nil {
				t.Fatalf("%v: %s", err, out.Bytes())
			}
			found := r.Samples.Middleboxes
			var got []string
			for _, change := range found.Changes {
				got = append(got, changeInShort(change))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s%+v", diff, found)
			}
			if diff := cmp.Diff(c.proxy, found.Proxy); diff != "" {
				t.Errorf("proxy (-want +got):\n%s", diff)
			}
			if told := found.FarError == ""; told != c.responds {
				t.Errorf("the far end tells: %v, want %v: %s", told, c.responds, found.FarError)
			}
		})
	}
}

// chainOf is a lab with routers in a row between bob and carol.
func chainOf(t *testing.T, chain, routers string) *lab.Spec {
	t.Helper()
	text, before := "hosts: {bob: {}, carol: {}}\nrouters: {"+routers+"}\nlinks:\n", "bob"
	for _, node := range append(strings.Fields(chain), "carol") {
		text += fmt.Sprintf("  - {between: [%s, %s], delay: 500us}\n", before, node)
		before = node
	}
	spec, err := lab.ParseSpec("chain", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// changeInShort is a change without what chance decides.
func changeInShort(c measure.PacketChange) string {
	by := fmt.Sprint(c.By)
	if c.Far {
		by = "end"
	}
	if c.Field == "sequence number" {
		return fmt.Sprintf("%s %d-%s", c.Field, c.After, by)
	}
	return fmt.Sprintf("%s %s %s %d-%s", c.Field, c.From, c.To, c.After, by)
}
