package iperf3

import "time"

// params is what the server is told. Seconds are whole on the wire; the client ends the test, so rounding up is safe.
func (c Config) params() Params {
	p := Params{
		TCP: c.Proto == TCP, UDP: c.Proto == UDP,
		Omit: number(c.Omit / time.Second), Time: number((c.Duration + time.Second - 1) / time.Second),
		Num: number(c.Bytes), BlockCount: number(c.Blocks), Burst: number(c.Burst), FQRate: number(c.FQRate), ZeroCopy: flag(c.ZeroCopy), MPTCP: flag(c.MPTCP),
		ServerOutput: flag(c.ServerOutput), Parallel: number(c.Parallel),
		MSS: number(c.MSS), NoDelay: flag(c.NoDelay), Reverse: flag(c.Reverse), Bidir: flag(c.Bidir),
		Window: number(c.Window), Len: number(c.Length), Bandwidth: number(c.Rate),
		PacingTimer: defaultPacingTick, TOS: number(c.DSCP << 2), FlowLabel: number(c.FlowLabel), Congestion: c.Congestion,
		ClientVersion: "3.12", // the version whose behaviour this follows
		Pathwise: &ParamsExtra{Software: softwareName, Version: softwareVersion, Packs: true, Train: c.Train, EventLoop: c.EventLoop,
			NoOffload: c.NoOffload, ReverseRate: number(c.ReverseRate)},
		Counters64: c.Proto == UDP, // of servers since 3.1
	}
	if c.FarFile != "" {
		p.Pathwise.File = &FileExtra{Name: c.FarFile, Direct: c.FarDirect}
	}
	if c.SampleEvery > 0 {
		p.Pathwise.SampleEvery = c.SampleEvery.Seconds()
	}
	return p
}
