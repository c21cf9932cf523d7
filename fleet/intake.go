package fleet

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// shareBytes of one host may wait for the archive, packed: more than the longest Result. Beyond, it keeps them.
	shareBytes = maxResults + 8<<20
	// intakeBytes of all hosts may wait. A host of which nothing waits gets a message in even so.
	intakeBytes = 256 << 20
	// partsLife is how long pieces wait for those after them while others need their room.
	partsLife = 2 * time.Minute
)

// A delivery is answered as the JetStream of NATS would, which took Results in earlier releases: either end may be older.
var (
	answerTaken  = `{"stream":"` + streamResults + `","seq":1}`
	answerBehind = fmt.Sprintf(`{"type":"io.nats.jetstream.api.v1.pub_ack_response","stream":"","seq":0,`+
		`"error":{"code":503,"err_code":%d,"description":"behind"}}`, streamFull)
)

var (
	errForeignReply = errors.New("its reply is no inbox of this host")
	errEnding       = errors.New("the controller ends")
)

// ownInbox says whether an answer would go to a host itself. The server lets a request name any subject, and the answer has
// the rights of who answers.
func ownInbox(host, reply string) bool { return strings.HasPrefix(reply, inbox+token(host)+".") }

// intake holds what was delivered and is not filed, packed, within a share for each host.
type intake struct {
	mu     sync.Mutex
	shares map[string]*share
	bytes  int // of all
	closed bool
	filers sync.WaitGroup
}

// share is one host's.
type share struct {
	msgs  []*nats.Msg
	parts pieces
	bytes int  // of msgs, parts and what is being filed
	busy  bool // somebody files it
}

func newIntake() intake { return intake{shares: map[string]*share{}} }

// admit takes a message in, or returns ErrBehind. first says that nobody files this host's yet: the caller must, and then tell filers.
func (in *intake) admit(host string, m *nats.Msg) (s *share, first bool, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return nil, false, errEnding
	}
	s = in.shares[host]
	if s == nil {
		s = new(share)
		in.shares[host] = s
	}
	n := len(m.Data)
	if s.bytes+n > shareBytes || in.bytes+n > intakeBytes {
		in.forgetParts()
	}
	if s.bytes+n > shareBytes || (in.bytes+n > intakeBytes && s.bytes > 0) {
		return s, false, ErrBehind
	}
	s.msgs = append(s.msgs, m)
	in.count(s, n)
	if first = !s.busy; first {
		s.busy = true
		in.filers.Add(1)
	}
	return s, first, nil
}

// forgetParts drops pieces whose host has sent nothing more for long.
func (in *intake) forgetParts() {
	for _, s := range in.shares {
		if n := len(s.parts.data); n > 0 && time.Since(s.parts.began) > partsLife {
			s.parts = pieces{}
			in.count(s, -n)
		}
	}
}

func (in *intake) count(s *share, n int) {
	s.bytes += n
	in.bytes += n
}

// next returns what is whole of a host's messages, oldest first, as much as is unpacked at once, and what can be part of
// nothing.
func (in *intake) next(s *share) (wholes [][]byte, bad []error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	unpacked := 0
	for len(s.msgs) > 0 && len(wholes) < together {
		m := s.msgs[0]
		if size, _ := unpackedSize(m.Data, maxResults); len(wholes) > 0 && unpacked+size > maxResults {
			break
		}
		s.msgs = s.msgs[1:]
		before := len(s.parts.data)
		whole, err := s.parts.add(m, maxResults)
		in.count(s, len(s.parts.data)+len(whole)-before-len(m.Data))
		if err != nil {
			bad = append(bad, err)
			continue
		}
		if whole == nil {
			continue
		}
		size, err := unpackedSize(whole, maxResults)
		if err != nil {
			bad = append(bad, err)
			in.count(s, -len(whole))
			continue
		}
		wholes = append(wholes, whole)
		if unpacked += size; unpacked >= maxResults {
			break
		}
	}
	return wholes, bad
}

// done gives back the room of what is filed, or given up.
func (in *intake) done(s *share, wholes [][]byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, w := range wholes {
		in.count(s, -len(w))
	}
}

// rest says that nothing waits any more, so that who files may go.
func (in *intake) rest(s *share) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(s.msgs) > 0 {
		return false
	}
	s.busy = false
	return true
}

func (in *intake) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
}
