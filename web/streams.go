package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/admission"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/measure"
)

// How many answers that go on as things happen may be open at a time: events, and tests that were asked for. Each holds a
// connection and a place in the list of who is told of all that happens.
const (
	// maxStreams bounds them all: a Result of some kilobytes is written to each.
	maxStreams = 1024
	// maxNetworkStreams is what one network may have: a lecture that looks at the pages.
	maxNetworkStreams = 256
	// maxCallerStreams is what one session or token may have: a page holds one while it can be seen, a script one or two.
	maxCallerStreams = 32
)

var (
	errFullStreams   = &limitError{http.StatusServiceUnavailable, "too many follow what happens here at once; try again in 5 s", limitWait}
	errCallerStreams = &limitError{http.StatusTooManyRequests,
		"too many live answers at once for this session, token or network; try again in 5 s", limitWait}
)

// streams counts the live answers that are open.
type streams struct {
	mu       sync.Mutex
	all      int
	callers  map[string]int
	networks map[netip.Prefix]int
}

// begin counts one more of a visitor, until end is called.
func (s *streams) begin(v *visitor) (end func(), err error) {
	if v.Kind == account.KindOwner {
		return func() {}, nil
	}
	caller, network := v.key(), admission.NetworkOf(v.address)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.all >= maxStreams:
		return nil, errFullStreams
	case s.networks[network] >= maxNetworkStreams, caller != "" && s.callers[caller] >= maxCallerStreams:
		return nil, errCallerStreams
	}
	if s.callers == nil {
		s.callers, s.networks = map[string]int{}, map[netip.Prefix]int{}
	}
	s.count(caller, network, 1)
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.count(caller, network, -1)
	}), nil
}

func (s *streams) count(caller string, network netip.Prefix, n int) {
	s.all += n
	if s.networks[network] += n; s.networks[network] == 0 {
		delete(s.networks, network)
	}
	if caller == "" {
		return
	}
	if s.callers[caller] += n; s.callers[caller] == 0 {
		delete(s.callers, caller)
	}
}

// key tells a visitor's session or token from all others; "": they have neither.
func (v *visitor) key() string {
	if v.session != "" && v.Kind == account.KindAccount {
		return "session " + v.session
	}
	if v.Name != "" {
		return string(v.Kind) + " " + v.Name
	}
	return ""
}

// streaming writes a live answer for a visitor, if they have not too many.
func (s *Server) streaming(ctx context.Context, w http.ResponseWriter, write func()) {
	end, err := s.live.begin(visitorOf(ctx))
	if err != nil {
		refuse(w, fault(err))
		return
	}
	defer end()
	write()
}

type eventsInput struct {
	Samples bool `query:"samples" default:"true" doc:"Whether Results come with their samples, which may be large"`
}

// events streams what happens, as server-sent events (HTML, section 9.2): result, miss, host, plan. Between them it says that it
// lives, for proxies. It ends with the right to it.
func (s *Server) events(ctx context.Context, in *eventsInput) (*huma.StreamResponse, error) {
	return &huma.StreamResponse{Body: func(answer huma.Context) {
		_, w := humago.Unwrap(answer)
		s.streaming(ctx, w, func() { s.tell(ctx, w, in.Samples) })
	}}, nil
}

// tell writes what happens until ctx or the visitor's right to it ends.
func (s *Server) tell(ctx context.Context, w http.ResponseWriter, samples bool) {
	events, end := s.Control.Events()
	defer end()
	tick := s.beats()
	defer tick.Stop()
	live(w, "text/event-stream")
	text := []byte(":\n\n") // a comment, so that the answer begins: the client knows that it misses nothing from here on
	for {
		if _, err := w.Write(text); err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if !visitorOf(ctx).reauthorized() {
				return
			}
			text = []byte(":\n\n")
		case e := <-events:
			text = eventText(e, samples)
		}
	}
}

// eventText is an event as it is sent; without what cannot be written, it is empty.
func eventText(e control.Event, samples bool) []byte {
	if e.Result != nil && !samples {
		r := *e.Result // which others have, too
		r.Samples = measure.Samples{}
		e.Result = &r
	}
	text, err := json.Marshal(e)
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", e.Kind(), text)
}
