package web

import (
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"golang.org/x/time/rate"

	"github.com/pathwise-net/pathwise/admission"
)

// guarded keeps from a handler what no caller may do, whoever they are: call from another site's page, frame or sniff an
// answer, or call faster than any page or script needs. What is large is compressed.
func guarded(l Listener, next http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { refuse(w, fault(errCrossOrigin)) }))
	next = compressed(origins.Handler(next))
	if !l.Owner {
		next = l.forwarded(newPacer(time.Now).handler(next))
	}
	return patiently(unsniffed(next))
}

var (
	errCrossOrigin = errors.New("a page of another site may not call: cross-origin request")
	errPace        = &limitError{http.StatusTooManyRequests, "too many calls from this network", time.Second}
)

// compressed shrinks documents. What streams is left alone: each of its lines is to arrive when it is said.
func compressed(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.ContentTypes([]string{"application/json", "application/problem+json", openapiJSON, "text/csv"}))
	if err != nil {
		panic(err) // the option above is wrong
	}
	return wrap(next)
}

// unsniffed says in each answer that it is what it says it is, and nobody's to frame or to run. A page says otherwise itself.
func unsniffed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

const (
	// callRate is how many calls a second a network may go on making: of fifty pages that follow a busy mesh, each renews four
	// things a second.
	callRate = 200
	// callBurst is how many it may make at once: pages that are opened in a lecture.
	callBurst = 2000
	// maxPaced bounds the networks that are counted. They are forgotten as soon as they have called nothing for as long as a
	// burst takes to be allowed again, so that only who floods us from as many networks gets to it; newcomers then share one
	// count.
	maxPaced = 10_000
)

// pacer counts calls by network.
type pacer struct {
	now func() time.Time

	mu      sync.Mutex
	buckets map[netip.Prefix]*rate.Limiter
	swept   time.Time
}

func newPacer(now func() time.Time) *pacer {
	return &pacer{now: now, buckets: map[netip.Prefix]*rate.Limiter{}}
}

func (p *pacer) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.allow(networkOf(r.RemoteAddr)) {
			refuse(w, fault(errPace))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func networkOf(remote string) netip.Prefix {
	at, _ := netip.ParseAddrPort(remote) // without one, it is of no network
	return admission.NetworkOf(at.Addr())
}

func (p *pacer) allow(network netip.Prefix) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	p.sweep(now)
	bucket := p.buckets[network]
	if bucket == nil && len(p.buckets) >= maxPaced {
		network = netip.Prefix{}
		bucket = p.buckets[network]
	}
	if bucket == nil {
		bucket = rate.NewLimiter(callRate, callBurst)
		p.buckets[network] = bucket
	}
	return bucket.AllowN(now, 1)
}

// sweep forgets networks that may make a whole burst again: a new bucket is no different.
func (p *pacer) sweep(now time.Time) {
	if now.Sub(p.swept) < callBurst/callRate*time.Second {
		return
	}
	p.swept = now
	for network, bucket := range p.buckets {
		if bucket.TokensAt(now) >= callBurst {
			delete(p.buckets, network)
		}
	}
}
