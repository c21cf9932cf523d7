package control

import (
	"context"
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/config"
)

// Overview is how the mesh as a whole is.
type Overview struct {
	Plan     uint64    `json:"plan"` // number of the plan in force; 0: none yet
	From     time.Time `json:"from"`
	Until    time.Time `json:"until"`
	Runs     int       `json:"runs"`              // planned in it
	Awaited  int       `json:"awaited"`           // runs, past and to come, without a Result
	OnDemand int       `json:"on_demand"`         // tests that somebody asked for and that are not over
	Warnings []string  `json:"warnings"`          // what the planner could not do as the mesh file asks
	Trouble  string    `json:"trouble,omitempty"` // why the mesh file as it stands is not in force
	Unfiled  string    `json:"unfiled,omitempty"` // why results cannot be filed now; they wait where they are
}

// Overview tells how the mesh is.
func (c *Control) Overview() Overview {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := Overview{
		Plan: c.current.Number, From: c.current.From, Until: c.current.Until, Runs: len(c.current.Runs),
		Awaited: c.awaited.waiting(), OnDemand: len(c.demands), Warnings: append([]string{}, c.warnings...),
	}
	if c.trouble != nil {
		o.Trouble = c.trouble.Error()
	}
	if c.unfiled != nil {
		o.Unfiled = c.unfiled.Error()
	}
	return o
}

// Hosts tells how each host of the mesh is, in the order of the mesh file.
func (c *Control) Hosts() []Host {
	m, now := c.Mesh(), c.config.Now()
	hosts := make([]Host, len(m.Hosts))
	for i, h := range m.Hosts {
		hosts[i] = Host{Name: h.Name, Site: h.Site, Reach: string(h.Reach), Address: h.Interfaces[0].Addresses[0]}
		status, at, known := c.roster.last(h.Name)
		if known {
			behind := at.Sub(status.At).Seconds()
			hosts[i].Status, hosts[i].Heard, hosts[i].ClockBehind = &status, &at, &behind
			hosts[i].NotUnderstood, status.Can = c.roster.missing(h.Name), nil // all that matters of it
		}
		switch {
		case h.Offline:
			hosts[i].State = Offline
		case h.Reach == config.ReachResponder:
			hosts[i].State = Foreign
		case c.roster.here(h.Name, now):
			hosts[i].State = Here
		default:
			hosts[i].State = Away
		}
	}
	return hosts
}

// emptiedEvery is how often Emptied looks: a tenth of the time between two reports.
const emptiedEvery = time.Second

// Emptied returns when a host's last status says that it keeps no Result that is not filed, or with the cause of ctx.
func (c *Control) Emptied(ctx context.Context, host string) error {
	asked := c.config.Now()
	tick := time.NewTicker(emptiedEvery)
	defer tick.Stop()
	for {
		if status, at, known := c.roster.last(host); known && at.After(asked) && status.Spooled == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until %s keeps no results: %w", host, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
