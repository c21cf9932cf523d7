package probe

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

// Fetch reads a file from a web server over one TCP connection, again and again until its time is over, and says how fast that went and what
// this host's kernel saw of it. Nothing of ours runs at the far end, so that what the sender waits for is not known. HTTP/1.1 (RFC 9112),
// without compression. A run is one TCP connection, so it is one sample of the path (RFC 2330).
type Fetch struct {
	Target   string
	Family   sock.Family // zero: the first of the target's addresses that answers, as RFC 8305 orders
	Scheme   string      // "": http
	Port     int         // 0: of the scheme
	Path     string      // with a query, if there is one; "": /
	Name     string      // of the server, for its certificate and for servers that have several; "": Target
	Duration time.Duration
	Bytes    int64   // end after this much; 0: no limit
	Narrow   float64 // end as soon as the goodput is known within this share of itself, by 95 %; 0: not before its time

	Roots      *x509.CertPool // that sign the server's certificate; nil: those of the system
	OnInterval func(measure.Interval)
	OnReading  func(measure.TCPSample) // of this end's TCP_INFO, many a second; nil: nobody watches
}

// Schemes of URLs, with their ports.
const (
	schemeHTTP  = "http"
	schemeHTTPS = "https"

	portHTTP  = 80
	portHTTPS = 443
)

// mostFetch is the longest that a file is read. fetchMost is the longest path, in bytes: RFC 9110 section 4.1 asks servers for 8000.
const (
	mostFetch = time.Hour
	fetchMost = 8000
)

func fetchKind() Kind {
	return newKind(declaration[Fetch]{
		kind: Kind{Name: "fetch", Meaning: "how fast a file comes from a web server", Text: fetchText, Usage: Usage{
			Hosts: "URL", Short: "How fast a file comes from a web server, and what this end can say of it",
			Long: "Read a file from a web server over one TCP connection, again and again until the time is over, and report the goodput and\n" +
				"what this host's kernel saw. It measures a path to where nothing of Pathwise runs, in one direction. A file below some\n" +
				"megabytes shows the server's answers more than the path.",
			Examples: []string{"fetch http://carol/file", "fetch carol:8080/1GB -t 5", "fetch https://carol/file --json"},
		}},
		target: func(p *Fetch) *string { return &p.Target },
		fields: fetchFields(),
	})
}

func fetchFields() []field[Fetch] {
	return []field[Fetch]{
		{Name: "scheme", Default: schemeHTTP, Meaning: "http or https",
			binding: word(func(p *Fetch) *string { return &p.Scheme }, schemeHTTP, schemeHTTPS)},
		{Name: "port", Short: "p", Outward: true, Default: "80, or 443 with https", Meaning: "the server's",
			binding: whole(func(p *Fetch) *int { return &p.Port }, 1, 65535)},
		{Name: "path", Outward: true, Default: "/", Meaning: "of the file, with a query if there is one",
			binding: only(word(func(p *Fetch) *string { return &p.Path }), isPath, "give the path of a URL, such as /data/1GB")},
		{Name: "name", Outward: true, Default: "the target's", Meaning: "of the server, for its certificate and where it has several",
			binding: only(word(func(p *Fetch) *string { return &p.Name }), isServerName, "give the name of a host")},
		{Name: "duration", Flag: "time", Short: "t", Default: "10s", Meaning: "how long to read",
			binding: span(func(p *Fetch) *time.Duration { return &p.Duration })},
		{Name: "bytes", Short: "n", Default: "no limit", Meaning: "end after this much, if duration has not passed before",
			binding: size(func(p *Fetch) *int64 { return &p.Bytes })},
		{Name: "narrow", Default: "off", Meaning: "end as soon as the goodput is known within this share of itself (95 %)," +
			" after 1.5 s and 25 round trips at the earliest, and when rare losses had their chance",
			binding: share(func(p *Fetch) *float64 { return &p.Narrow })},
		familyField(func(p *Fetch) *sock.Family { return &p.Family }),
	}
}

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (p *Fetch) Validate() error {
	err := cmp.Or(checkTarget(p.Target, p.Family), checkRange("port", p.Port, 0, 65535), checkDuration("duration", p.Duration, time.Millisecond, mostFetch))
	if err != nil {
		return err
	}
	if p.Narrow < 0 || p.Narrow > 1 {
		return &input.Error{Field: "narrow", Value: fmt.Sprint(p.Narrow), Remedy: "give a ratio above 0, such as 0.05 or 5%"}
	}
	if !isServerName(p.Name) && p.Name != "" {
		return &input.Error{Field: "name", Value: p.Name, Remedy: "give the name of a host"}
	}
	if !isPath(p.Path) && p.Path != "" {
		return &input.Error{Field: "path", Value: p.Path, Remedy: "give the path of a URL, such as /data/1GB"}
	}
	return nil
}

// isPath says whether a text can be the path of a URL, with a query.
func isPath(text string) bool {
	_, err := url.ParseRequestURI("/" + strings.TrimPrefix(text, "/"))
	return err == nil && len(text) <= fetchMost && !strings.ContainsAny(text, " #")
}

// isServerName says whether a text can be the name or the address of a host in a URL.
func isServerName(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(",/?#@[]", r) })
}

func (p Fetch) withDefaults() Fetch {
	setDefault(&p.Scheme, schemeHTTP)
	setDefault(&p.Duration, transferFor)
	setDefault(&p.Name, p.Target)
	if p.Port == 0 {
		p.Port = map[string]int{schemeHTTP: portHTTP, schemeHTTPS: portHTTPS}[p.Scheme]
	}
	if !strings.HasPrefix(p.Path, "/") {
		p.Path = "/" + p.Path
	}
	return p
}

func (p *Fetch) equip(o Options) {
	p.OnInterval, p.OnReading = watch(o.Interval, o.Say, fetchLine), o.Reading
}

// fetchLine is an interval as people read it: all that is read comes to this host.
func fetchLine(i measure.Interval) string { return intervalFigures(i) + "  to this host" }

// demand: how many bytes come nobody knows before, so that the path belongs to it alone.
func (p *Fetch) demand() measure.Demand {
	return measure.Demand{DurationSeconds: (p.withDefaults().Duration + iperf3Setup).Seconds(), Bytes: float64(p.Bytes), Exclusive: true}
}

// resultBytes are those of a throughput test that has the readings of one end.
func (p *Fetch) resultBytes() float64 { return 1150 + 1650*p.withDefaults().Duration.Seconds() }

// Do makes the measurement.
func (p *Fetch) Do(ctx context.Context) (*measure.Result, error) {
	return measured(ctx, "fetch", p.Target, func(ctx context.Context, r *measure.Result) error {
		r.Way = measure.Way(measure.Reverse)
		if err := p.Validate(); err != nil {
			return err
		}
		all := p.withDefaults()
		r.Parameters = recorded(fetchFields(), &all)
		to, err := Answering(ctx, all.Target, all.Family, all.Port)
		if err != nil {
			return err
		}
		run := fetching{Fetch: all, to: netip.AddrPortFrom(to, uint16(all.Port))}
		err = run.run(ctx)
		run.fill(r)
		return err
	})
}

// SplitURL reads HOST, HOST:PORT/PATH or a whole URL, and returns the host and what else it says, as parameters of the kind fetch.
func SplitURL(text string) (host string, parameters map[string]any, err error) {
	bad := &input.Error{Field: "URL", Value: text, Remedy: "give a URL such as http://carol:8080/file"}
	whole := text
	if !strings.Contains(whole, "://") {
		whole = schemeHTTP + "://" + whole
	}
	u, err := url.Parse(whole)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" || u.Scheme != schemeHTTP && u.Scheme != schemeHTTPS {
		return "", nil, bad
	}
	parameters = map[string]any{}
	if u.Scheme != schemeHTTP {
		parameters["scheme"] = u.Scheme
	}
	if path := u.RequestURI(); path != "/" {
		parameters["path"] = path
	}
	if u.Port() != "" {
		port, err := strconv.Atoi(u.Port())
		if err != nil || port < 1 || port > 65535 {
			return "", nil, bad
		}
		parameters["port"] = port
	}
	return u.Hostname(), parameters, nil
}

// FetchPort is the port of a URL that SplitURL read.
func FetchPort(parameters map[string]any) int {
	p := Fetch{}
	p.Scheme, _ = parameters["scheme"].(string)
	p.Port, _ = parameters["port"].(int)
	return p.withDefaults().Port
}

// fetchText writes how fast the file came.
func fetchText(w io.Writer, r *measure.Result) {
	line := metricLine(w, r)
	line("throughput", measure.Throughput, quantity.FormatRate)
	line("received", measure.ReceivedBytes, asSize)
	line("first byte after", measure.FirstByte, quantity.FormatSeconds)
}
