package probe

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// App measures round trips with a service that anybody may run: a name, time, web, mail or authentication server. Each is one request and its
// answer, over a socket of its own, as a client without a cache or an open connection has it; the time is by this process's clock. Loss is
// what no answer came to within Timeout, or an answer that refuses: see the file of each scheme for what counts.
//
// It says what the service takes, with the path to it: a ping of the same host shows which of the two is slow.
type App struct {
	Target   string        // name or address of the server; required
	Family   sock.Family   // zero: the first of the target's addresses that can be reached
	Scheme   string        // "dns", "http", "https", "ntp", "radius", "smtp" or "tls"; "": http
	Port     int           // 0: of the scheme
	Name     string        // of dns: the name to ask for, "": the root; of http, https and tls: the server's own, "": Target
	Type     string        // of dns: the type of record; "": A, of the root NS
	Path     string        // of http and https, with a query if there is one; "": /
	Secret   string        // of radius: the file with the shared secret; required there
	Count    int           // requests; 0: 10
	Interval time.Duration // between requests, with Poisson their mean; 0: 1 s; at least 10 ms
	Timeout  time.Duration // 0: 5 s, in which a SYN is sent three times; at most 60 s, and 500 intervals
	Poisson  bool          // exponential intervals (RFC 2330, 11.1.1)
	Deadline time.Duration // no request begins later than this after the first; 0: no limit

	Roots    *x509.CertPool     // that sign the servers' certificates; nil: those of the system
	Rand     *rand.Rand         // source of intervals; nil: a random seed
	Progress func(measure.Echo) // called once for each request when its fate is known, by the goroutine of Do; may be nil
}

// Defaults and limits of App.
const (
	appTimeout     = 5 * time.Second
	appMinInterval = 10 * time.Millisecond // a hundred requests a second are no load to any service, and leave this host in ports
	appMaxName     = 253                   // characters of a name, written with dots (RFC 1035 section 2.3.4)
)

// appScheme is one kind of service.
type appScheme struct {
	name    string
	port    int
	takes   []string // of "name", "type", "path" and "secret": the parameters that it has a place for
	ahead   float64  // bytes of a link's time that an exchange takes to the server, as a rule
	back    float64  // and from it
	remedy  string   // where every request fails
	service func(p App) (appService, error)
}

// appService makes exchanges with a service. Several goroutines may use it at once.
type appService interface {
	// exchange makes one. ctx has the time until which an answer may come. An error that is no timeout says how the request was refused.
	exchange(ctx context.Context, to netip.AddrPort) (appAnswer, error)
}

// appAnswer is what an exchange tells.
type appAnswer struct {
	rtt     time.Duration
	said    string        // what the server answered, in its protocol's words
	connect time.Duration // of the connection; 0: there is none
	secure  time.Duration // of the handshake of TLS; 0: there is none
	first   time.Duration // from the request to the first byte of the answer; 0: it is the round trip

	certificate *appCertificate // nil: none was shown
	clock       *ntpReading     // nil: none was shown
}

// appSchemes is every kind of service, sorted by name.
func appSchemes() []appScheme {
	return []appScheme{dnsScheme(), httpScheme(), httpsScheme(), ntpScheme(), radiusScheme(), smtpScheme(), tlsScheme()}
}

func appSchemeNames() (names []string) {
	for _, s := range appSchemes() {
		names = append(names, s.name)
	}
	return names
}

// scheme is the kind of service that is asked for, after withDefaults.
func (p App) scheme() appScheme {
	all := appSchemes()
	return all[slices.IndexFunc(all, func(s appScheme) bool { return s.name == p.Scheme })]
}

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (p App) Validate() error {
	if p.Scheme != "" && !slices.Contains(appSchemeNames(), p.Scheme) {
		return &input.Error{Field: "scheme", Value: p.Scheme, Remedy: "give " + oneOf(appSchemeNames())}
	}
	interval, timeout := cmp.Or(p.Interval, pingInterval), cmp.Or(p.Timeout, appTimeout)
	if err := cmp.Or(
		checkTarget(p.Target, p.Family), p.checkPlaces(),
		checkRange("port", p.Port, 0, 65535),
		checkRange("count", p.Count, 0, pingMaxCount),
		checkDuration("interval", p.Interval, appMinInterval, time.Hour),
		checkDuration("timeout", p.Timeout, time.Millisecond, maxTimeout),
	); err != nil {
		return err
	}
	if timeout > tcpMostOpen*interval {
		return &input.Error{Field: "interval", Value: interval.String(), Remedy: fmt.Sprintf(
			"with a timeout of %v, more than %d requests may be under way; give at least %v", timeout, tcpMostOpen, (timeout+tcpMostOpen-1)/tcpMostOpen)}
	}
	return nil
}

// checkPlaces refuses what the scheme has no place for, and what is none.
func (p App) checkPlaces() error {
	s := p.withDefaults().scheme()
	for _, given := range []struct{ field, value string }{{"name", p.Name}, {"type", p.Type}, {"path", p.Path}, {"secret", p.Secret}} {
		if given.value != "" && !slices.Contains(s.takes, given.field) {
			return &input.Error{Field: given.field, Value: given.value, Remedy: s.name + " has no place for it; leave it out"}
		}
	}
	switch {
	case p.Scheme == schemeDNS && p.Name != "":
		_, err := dnsName(p.Name)
		return err
	case p.Name != "" && !isServerName(p.Name):
		return &input.Error{Field: "name", Value: p.Name, Remedy: "give the name of a host"}
	case p.Path != "" && !isPath(p.Path):
		return &input.Error{Field: "path", Value: p.Path, Remedy: "give the path of a URL, such as /health"}
	case p.Scheme == schemeRADIUS && p.Secret == "":
		return &input.Error{Field: "secret", Value: p.Secret, Remedy: "give the file with the secret that the server shares with this host"}
	}
	return nil
}

func (p App) withDefaults() App {
	setDefault(&p.Scheme, schemeHTTP)
	setDefault(&p.Port, p.scheme().port)
	setDefault(&p.Count, pingCount)
	setDefault(&p.Interval, pingInterval)
	setDefault(&p.Timeout, appTimeout)
	switch p.Scheme {
	case schemeDNS:
		if p.Type == "" && (p.Name == "" || p.Name == dnsRoot) {
			p.Type = "NS"
		}
		setDefault(&p.Type, "A")
		setDefault(&p.Name, dnsRoot)
	case schemeHTTP, schemeHTTPS, schemeTLS:
		setDefault(&p.Name, p.Target)
	}
	if slices.Contains(p.scheme().takes, "path") && !strings.HasPrefix(p.Path, "/") {
		p.Path = "/" + p.Path
	}
	if p.Rand == nil {
		p.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	return p
}
