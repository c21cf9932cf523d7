package probe

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

// Audit reads what the host that it runs on is set to, and holds it against what a rate and a round trip need: see package host. It changes
// nothing. What is wrong is in Samples.Findings, each under the ID of its item.
type Audit struct {
	Target   string        // what the Result calls this host; "": its own name
	To       string        // where data goes to, which says the route and the interface; "": the default route
	Family   sock.Family   // zero: of the first address of To
	Rate     int64         // bit/s; 0: the speed of the link
	RTT      time.Duration // 0: what the kernel remembers of the path, or 50 ms
	Interval time.Duration // between two readings of the counters; 0: 1 s
	Disk     string        // folder in which a file is written and read, to see how fast that goes; "": none
	Crypto   bool          // see how fast one core encrypts, and proves files

	read func(ctx context.Context, ask host.Ask) (*host.Report, error) // of another machine, which Target names; nil: this one is read
}

func auditKind() Kind {
	return newKind(declaration[Audit]{
		kind: Kind{Name: "audit", Itself: true, Text: auditText,
			Meaning: "what the host is set to, against what a rate and a round trip need, as `pathwise host` does"},
		target: func(p *Audit) *string { return &p.Target },
		fields: auditFields(),
	})
}

func auditFields() []field[Audit] {
	return []field[Audit]{
		{Name: "to", Outward: true, Default: "the default route", Meaning: "the host that data goes to: the interface on its route is looked at",
			binding: word(func(p *Audit) *string { return &p.To })},
		{Name: "rate", Default: "the speed of the link", Meaning: "that the host is to carry",
			binding: rate(func(p *Audit) *int64 { return &p.Rate })},
		{Name: "rtt", Default: "what the kernel remembers, or 50ms", Meaning: "round trip of the path that it is to carry it over",
			binding: span(func(p *Audit) *time.Duration { return &p.RTT })},
		{Name: "interval", Default: "1s", Meaning: "between two readings of what the kernel counts",
			binding: span(func(p *Audit) *time.Duration { return &p.Interval })},
		{Name: "disk", Outward: true, Default: "none", Meaning: "folder of the host in which a file of at most 512 MiB is written and read, to see how fast that goes",
			binding: word(func(p *Audit) *string { return &p.Disk })},
		{Name: "crypto", Default: "false", Meaning: "see how fast one core encrypts, and proves files by a digest",
			binding: yesOrNo(func(p *Audit) *bool { return &p.Crypto })},
		familyField(func(p *Audit) *sock.Family { return &p.Family }),
	}
}

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (p *Audit) Validate() error {
	if p.Disk != "" && !filepath.IsAbs(p.Disk) {
		return input.Errorf("disk: %s: want a folder from the root on, such as /data", strconv.Quote(p.Disk))
	}
	return cmp.Or(p.Family.Validate(), checkDuration("interval", p.Interval, hostMinInterval, hostMaxInterval))
}

func (p *Audit) equip(o Options) { p.read = o.Audit }

func (p *Audit) demand() measure.Demand {
	d := measure.Demand{DurationSeconds: cmp.Or(p.Interval, hostInterval).Seconds()}
	if p.Disk != "" {
		d.DurationSeconds += diskTakes.Seconds()
	}
	if p.Crypto {
		d.DurationSeconds += cryptoTakes.Seconds()
	}
	return d
}

// How long an audit tries a disk, with the waits for what was written to be there, and ciphers: see packages disk and host.
const (
	diskTakes   = 30 * time.Second
	cryptoTakes = 1 * time.Second
)

// resultBytes are those of three metrics and of a dozen findings, compressed.
func (p *Audit) resultBytes() float64 { return 3000 }

// Do makes the audit.
func (p *Audit) Do(ctx context.Context) (*measure.Result, error) {
	return measured(ctx, "audit", p.Target, p.measure)
}

func (p *Audit) measure(ctx context.Context, r *measure.Result) error {
	setDefault(&r.Target.Name, r.Source.Name)
	if err := p.Validate(); err != nil {
		return err
	}
	all := *p
	setDefault(&all.Interval, hostInterval)
	r.Parameters = recorded(auditFields(), &all)
	ask := host.Ask{Rate: float64(p.Rate), RTT: p.RTT, Interval: all.Interval}
	if p.To != "" {
		to, err := Resolve(ctx, p.To, p.Family)
		if err != nil {
			return err
		}
		ask.To = to
	}
	system, which := host.Linux(), "this host"
	if p.Disk != "" {
		system.DiskRates = host.TryDisk(p.Disk)
	}
	if p.Crypto {
		system.Transfer = host.OwnTransfer
	}
	read := system.Audit
	if p.read != nil {
		read, which, r.Source.Name = p.read, p.Target, p.Target // which says by itself what it tries
	}
	report, err := read(ctx, ask)
	if err != nil {
		return fmt.Errorf("audit %s: %w", which, err)
	}
	fillAudit(r, report)
	return nil
}

// fillAudit turns an audit into metrics and findings, the worst first.
func fillAudit(r *measure.Result, report *host.Report) {
	if report.Source != (netip.Addr{}) {
		r.Source.Address, r.Target.Address = report.Source.String(), report.Source.String()
	}
	r.Parameters["rate"], r.Parameters["rtt"] = report.Rate, report.RTTSeconds
	counts := map[host.Status]float64{}
	for _, status := range []host.Status{host.Problem, host.Warning} {
		for _, c := range report.Checks {
			if c.Status == status {
				r.Samples.Findings = append(r.Samples.Findings, findingOf(r, c, report.Bears(status)))
			}
		}
	}
	for _, c := range report.Checks {
		counts[c.Status]++
	}
	r.Metrics[measure.HostSettingsBad], r.Metrics[measure.HostSettingsDoubtful] = counts[host.Problem], counts[host.Warning]
	r.Metrics[measure.HostSettingsUnknown] = counts[host.Unknown]
	fillTrials(r, report)
	for _, missing := range report.Missing {
		r.Note("not read: " + missing)
	}
}

// fillTrials turns what a disk and ciphers were tried for into metrics. Of large blocks those past the cache count, where there are some: they come
// later.
func fillTrials(r *measure.Result, report *host.Report) {
	for _, rate := range report.DiskRates {
		m := map[string]measure.Metric{"read": measure.HostFileRead, "write": measure.HostFileWrite, "read at random": measure.HostFileRandomRead,
			"write at random": measure.HostFileRandomWrite}[strings.TrimPrefix(rate.What, "direct ")]
		if m != "" && rate.Rate > 0 {
			r.Metrics[m] = rate.Rate
		}
	}
	if len(report.Crypto) == 0 {
		return
	}
	r.Metrics[measure.HostCipher] = host.FastestCipher(report.Crypto)
	for _, c := range report.Crypto {
		if c.Name == "sha-256" {
			r.Metrics[measure.HostDigest] = c.Rate
		}
	}
}

// findingOf is a check that is not as it should be, as a finding about the host, as bad as `pathwise host` calls it. bears says whether it holds
// transfers back.
func findingOf(r *measure.Result, c host.Check, bears string) measure.Finding {
	f := measure.Finding{ID: c.ID, Severity: measure.Severity(c.Status), Confidence: 1, Where: strings.TrimSpace(r.Source.Name + " " + c.Subject),
		Evidence: []measure.Evidence{}, Advice: []measure.Advice{}, Explanation: c.Value + ". " + c.Why + " " + bears}
	if c.Needed != "" {
		wish := "would be better"
		if c.Status == host.Problem {
			wish = "is needed"
		}
		f.Explanation = fmt.Sprintf("%s, and %s %s. %s %s", c.Value, c.Needed, wish, c.Why, bears)
	}
	if c.Command != "" {
		why := c.Formula
		if c.Keep != "" {
			why = strings.TrimPrefix(why+"; to make it stay: "+c.Keep, "; ")
		}
		f.Advice = append(f.Advice, measure.Advice{Host: r.Source.Name, Command: c.Command, Why: why})
	}
	return f
}

// auditText writes what is wrong, and what to do about it.
func auditText(w io.Writer, r *measure.Result) {
	for _, m := range []measure.Metric{measure.HostFileRead, measure.HostFileWrite, measure.HostFileRandomRead, measure.HostFileRandomWrite, measure.HostCipher,
		measure.HostDigest} {
		if v, there := r.Get(m); there {
			d, _ := m.Definition()
			fmt.Fprintf(w, "%s: %s\n", d.Label, quantity.FormatRate(v))
		}
	}
	for _, f := range r.Samples.Findings {
		fmt.Fprintf(w, "%s: %s (%s)\n%s\n", f.Severity, f.ID, f.Where, chart.Fold(f.Explanation, "  ", chart.Width))
		for _, a := range f.Advice {
			fmt.Fprintf(w, "  > %s\n", a.Command)
		}
	}
	if len(r.Samples.Findings) == 0 {
		fmt.Fprintln(w, "nothing of what this host is set to is in the way")
	}
}
