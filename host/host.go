// Package host audits a machine: what its kernel, adapters, processors, clock, disks, firewall and routes are set to, beside what a
// rate and a round trip need.
//
// System reads, and changes nothing. Judge is pure: it holds each Item of the table against what was read. Apply writes what a caller
// asks for, after it has kept what was there before, and Revert writes that back. The package measures no path.
package host

import (
	"cmp"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/model"
)

// Need is what a machine is to carry.
type Need struct {
	Rate float64       // bit/s
	RTT  time.Duration // round-trip time of the path
}

// product is the bandwidth-delay product in bytes (RFC 7323 section 1.1).
func (n Need) product() float64 { return model.BandwidthDelay(n.Rate, n.RTT) }

// Status is what an Item is found to be.
type Status string

const (
	OK      Status = "ok"
	Warning Status = "warning" // costs something, or will in some cases
	Problem Status = "problem" // keeps the machine from the rate that it needs
	Unknown Status = "unknown" // could not be read
)

// statuses are all, the worst first.
var statuses = []Status{Problem, Warning, Unknown, OK}

// AtLeastAsBad says whether a status is the other one, or worse.
func (s Status) AtLeastAsBad(as Status) bool {
	return slices.Index(statuses, s) <= slices.Index(statuses, as)
}

// Area is what an Item belongs to.
type Area string

const (
	TCP       Area = "tcp"
	Core      Area = "core" // what all protocols share: buffers, queues, memory
	Interface Area = "interface"
	CPU       Area = "cpu"
	Clock     Area = "clock"
	Disk      Area = "disk"
	Firewall  Area = "firewall"
	Route     Area = "route"
)

// A Check is what came of one Item, of one subject.
type Check struct {
	ID         string   `json:"id"`
	Title      string   `json:"title"` // what was audited, for people
	Area       Area     `json:"area"`
	Subject    string   `json:"subject,omitempty"` // such as an interface or a disk; "": the machine
	Status     Status   `json:"status"`
	Value      string   `json:"value"`                // as it runs now
	Needed     string   `json:"needed,omitempty"`     // what it should be
	Configured string   `json:"configured,omitempty"` // what a file will make of it at the next start, where one does
	File       string   `json:"file,omitempty"`       // which
	Why        string   `json:"why"`                  // what it does, and what is wrong with it
	Formula    string   `json:"formula,omitempty"`
	Source     string   `json:"source,omitempty"` // of the formula
	Read       string   `json:"read"`             // where the kernel shows it
	Command    string   `json:"command,omitempty"`
	Keep       string   `json:"keep,omitempty"`    // how to make it stay
	Changes    []Change `json:"changes,omitempty"` // that Apply makes
}

// Judge holds every Item against what was read. Checks come in the order of the table; an Item that this machine does not have, such as
// a disk's where there is none, gives none.
func Judge(f *Facts, n Need) []Check {
	var all []Check
	for _, i := range Items() {
		for _, s := range i.look(f, n) {
			all = append(all, i.check(f, s))
		}
	}
	return all
}

// check makes a Check of what was seen.
func (i Item) check(f *Facts, s seen) Check {
	c := Check{ID: i.ID, Title: i.Title, Area: i.Area, Subject: s.subject, Status: cmp.Or(s.status, OK), Value: s.value, Needed: s.needed, Why: i.Means,
		Formula: i.Formula, Source: i.Source, Read: cmp.Or(i.Reads, i.Key), Command: s.command, Keep: s.keep, Changes: s.changes}
	if s.why != "" {
		c.Why = s.why + " " + i.Means
	}
	if set, there := f.Configured[s.key]; there {
		c.drift(set, cmp.Or(f.Sysctls[s.key], s.value), i.Key != "" || f.Sysctls[s.key] != "")
	}
	for _, change := range s.changes {
		c.Command, c.Keep = cmp.Or(c.Command, change.command()), cmp.Or(c.Keep, change.keep())
	}
	return c
}

// drift adds what a file makes of a value when the machine starts. One that runs otherwise is a finding, whichever of the two is right.
func (c *Check) drift(set Configured, runs string, setting bool) {
	c.Configured, c.File = set.Value, set.File
	if set.Value == runs {
		return
	}
	c.Why = "It runs as " + runs + " and is configured as " + set.Value + ". " + c.Why
	if c.Status != OK {
		return
	}
	c.Status, c.Keep = Warning, "edit "+set.File+" where the running value is the right one"
	if c.Command = "sysctl -p " + set.File; !setting {
		c.Command = "have " + set.File + " read again, such as by networkctl reload"
	}
}

// Worst is the worst status of all checks but those that are unknown, which say nothing of the machine.
func Worst(checks []Check) Status {
	worst := OK
	for _, c := range checks {
		if c.Status != Unknown && c.Status.AtLeastAsBad(worst) {
			worst = c.Status
		}
	}
	return worst
}
