package probe

import (
	"math"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// appKind has no command of its own: `pathwise ping URL` measures it.
func appKind() Kind {
	return newKind(declaration[App]{
		kind:   Kind{Name: "app", Meaning: "round trips with a name, time, web, mail or authentication server", Text: appText},
		target: func(p *App) *string { return &p.Target },
		fields: appFields(),
	})
}

func appFields() []field[App] {
	return []field[App]{
		{Name: "scheme", Default: schemeHTTP, Meaning: "what the server speaks",
			binding: word(func(p *App) *string { return &p.Scheme }, appSchemeNames()...)},
		{Name: "port", Outward: true, Default: "the protocol's", Meaning: "the server's",
			binding: whole(func(p *App) *int { return &p.Port }, 1, 65535)},
		{Name: "name", Outward: true, Default: "the target's; of dns the root", Meaning: "of dns: what to ask for; else of the server, for its certificate",
			binding: only(word(func(p *App) *string { return &p.Name }), isServerName, "give the name of a host")},
		{Name: "type", Outward: true, Default: "A, or NS of the root", Meaning: "of dns: of the record",
			binding: word(func(p *App) *string { return &p.Type }, dnsTypeNames()...)},
		{Name: "path", Outward: true, Default: "/", Meaning: "of http and https, with a query if there is one",
			binding: only(word(func(p *App) *string { return &p.Path }), isPath, "give the path of a URL, such as /health")},
		{Name: "secret", Outward: true, Default: "none", Meaning: "of radius: the file with the secret that the server shares with this host",
			binding: word(func(p *App) *string { return &p.Secret })},
		{Name: "count", Default: "10", Meaning: "requests to make",
			binding: whole(func(p *App) *int { return &p.Count }, 1, pingMaxCount)},
		{Name: "interval", Default: "1s", Meaning: "between requests; their mean with poisson",
			binding: span(func(p *App) *time.Duration { return &p.Interval })},
		{Name: "timeout", Default: "5s", Meaning: "how long an answer may take",
			binding: span(func(p *App) *time.Duration { return &p.Timeout })},
		{Name: "poisson", Default: "false", Meaning: "exponential intervals, which meet periodic behaviour without bias",
			binding: yesOrNo(func(p *App) *bool { return &p.Poisson })},
		familyField(func(p *App) *sock.Family { return &p.Family }),
	}
}

func (p *App) equip(o Options) { p.Progress = watch(o.Echo, o.Say, EchoLine) }

// bound sets when the last request begins at the latest, as that of Ping does.
func (p *App) bound() {
	all := p.withDefaults()
	slack := 1.
	if p.Poisson {
		slack = 4 * math.Sqrt(float64(all.Count-1))
	}
	p.Deadline = time.Duration((float64(all.Count-1) + slack) * float64(all.Interval))
}

func (p *App) demand() measure.Demand {
	all := p.withDefaults()
	last := float64(all.Count-1) * all.Interval.Seconds()
	if p.Poisson {
		last = p.Deadline.Seconds()
	}
	s := all.scheme()
	rate := 8 * max(s.ahead, s.back) / all.Interval.Seconds()
	return measure.Demand{DurationSeconds: last + all.Timeout.Seconds(), Bytes: (s.ahead + s.back) * float64(all.Count),
		BitsPerSecond: rate, Exclusive: rate > LightRate}
}

// resultBytes are those of a ping, and of what the server said.
func (p *App) resultBytes() float64 { return 950 + 14*float64(p.withDefaults().Count) }
