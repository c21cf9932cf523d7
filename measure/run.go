package measure

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Run is one execution of a Task that the mesh planned, or that somebody asked for: which host does it to which, when,
// and what the target must open for it. The Result that comes of it has the Run's ID, so that however often it is sent,
// it is filed once.
type Run struct {
	ID     string    `json:"id"`             // ULID
	Test   string    `json:"test,omitempty"` // of the mesh; "" for a run on demand
	Tool   string    `json:"tool"`
	Role   Role      `json:"role,omitempty"` // "": as RoleOf says
	Source string    `json:"source"`         // host name
	Target string    `json:"target"`         // host name; the source itself for a tool that measures its host
	Start  time.Time `json:"start"`

	// LimitSeconds after Start the run is ended, whatever it did, and what it opened is closed.
	LimitSeconds float64 `json:"limit_seconds"`
	// SlotSeconds after Start the run may still begin, if its host was late or its first try failed; then it is missed.
	SlotSeconds float64 `json:"slot_seconds,omitempty"`
	Tries       int     `json:"tries,omitempty"` // at most, within the slot; 0: 1

	Exclusive bool       `json:"exclusive,omitempty"`
	Task      Task       `json:"task"` // Target is the address to measure
	Responder *Responder `json:"far,omitempty"`
}

// Limit is when a run that is still under way is ended.
func (r *Run) Limit() time.Time { return r.Start.Add(seconds(r.LimitSeconds)) }

// Latest is the last moment at which the run may begin.
func (r *Run) Latest() time.Time { return r.Start.Add(seconds(r.SlotSeconds)) }

// Responder is what the target of a Run opens for as long as the run may take, and for nobody else: a listener that admits
// one test, by a secret that both ends were told. A foreign responder has its own, so its Runs have none.
type Responder struct {
	Kind    string   `json:"kind"`
	Port    int      `json:"port"`
	Secret  string   `json:"secret"`            // never logged, stored in no Result
	Sealed  bool     `json:"sealed,omitempty"`  // of ResponderSTAMP: packets are authenticated by the secret. Builds that do not know it have them open
	Tests   int      `json:"tests,omitempty"`   // that come, one after the other; 0: 1. Then it is closed
	Command []string `json:"command,omitempty"` // of ResponderCommand
	// Together is how many of the tests come at the same time, each by a secret of its own: see CompetingSecret. 0: 1
	Together int `json:"together,omitempty"`
}

// Kinds of Responder, which package respond describes.
const (
	ResponderIperf3   = "iperf3"   // an iperf3 server; the secret is the cookie that opens each of its connections
	ResponderTransact = "transact" // answers transactions; the secret opens their control connection
	ResponderFlows    = "flows"    // takes flows of datagrams by a script; the secret opens their control connection
	ResponderNDT7     = "ndt7"     // a server of ndt7; the secret is the access token of each test
	ResponderOWAMP    = "owamp"    // an OWAMP server; the secret is the pass phrase of its one key
	ResponderTWAMP    = "twamp"    // a TWAMP server; the secret is the pass phrase of its one key
	ResponderSTAMP    = "stamp"    // a STAMP reflector, which answers the run's source alone; where it is Sealed, the secret makes the key of its packets
	ResponderCommand  = "command"  // a program, such as a tool's own server, which knows of no secret
)

// String hides the secret, so that no log holds it.
func (r Responder) String() string { return r.Kind }

// GoString hides the secret from %#v, too.
func (r Responder) GoString() string { return r.Kind }

// Demand is what a Task asks of the path and of both ends, reckoned before it runs: what a planner goes by.
type Demand struct {
	DurationSeconds float64 `json:"duration_seconds"`     // from first to last packet, as a rule
	Exclusive       bool    `json:"exclusive"`            // fills a link: both ends' interfaces must be alone
	Bytes           float64 `json:"bytes"`                // on the wire, both directions; of a test that fills a link, at BitsPerSecond
	BitsPerSecond   float64 `json:"bits_per_second"`      // while it lasts, at most; 0: whatever the path carries
	Together        bool    `json:"together,omitempty"`   // light ones of a test begin at once on all hosts
	Continuous      bool    `json:"continuous,omitempty"` // its runs follow each other without a gap, each as long as the time between them
	Responder       string  `json:"far,omitempty"`        // the kind of listener that the target must open
	ResponderTests  int     `json:"far_tests,omitempty"`  // that come to it, one after the other; 0: 1
	// PortParameter is the parameter of the Task that says where what its target opens answers; "": port
	PortParameter string `json:"-"`
	// ResponderTogether is how many of them come at the same time; 0: 1
	ResponderTogether int `json:"far_together,omitempty"`

	Sealed bool `json:"-"` // its packets have room for being authenticated, where both hosts can: see Responder

	// ResultBytes are what its Result adds to an archive: line, samples, points, rollups and indices, as measured with SQLite, a few
	// Results at a time (docs/mesh-file.md). They are to be right within a factor of two, which is about what lies between a path
	// that changes little and one that does, and what PostgreSQL takes more.
	ResultBytes float64 `json:"-"`
}

// Miss is a planned Run of which no Result came, and why: a gap known as a gap. A Result that comes later replaces it.
type Miss struct {
	Run    string    `json:"run"` // ID
	Test   string    `json:"test,omitempty"`
	Tool   string    `json:"tool"`
	Source string    `json:"source"`
	Target string    `json:"target"`
	Way    Way       `json:"way,omitempty"` // that the data would have gone
	Start  time.Time `json:"start"`
	Why    string    `json:"why"`
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Again returns the run's n-th repetition, after it, for a host that repeats its plan because it hears of no newer one. ID
// and secret follow from the run's own, so that both ends, who do not speak to each other, come to the same.
func (r Run) Again(n int, after time.Duration) Run {
	r.ID, r.Start = IDAgain(r.ID, n, after), r.Start.Add(after)
	if r.Responder != nil {
		responder := *r.Responder
		responder.Secret = SecretAgain(responder.Secret, n)
		r.Responder = &responder
	}
	return r
}

// IDAgain returns the ID of a run's n-th repetition: its time is later by after, the rest is drawn from ID and n. An ID
// that is no ULID has none, and stays.
func IDAgain(id string, n int, after time.Duration) string {
	first, err := ulid.ParseStrict(id)
	if err != nil {
		return id
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s again %d", id, n))
	var again ulid.ULID
	_ = again.SetTime(first.Time() + uint64(after.Milliseconds())) // fails after the year 10889
	_ = again.SetEntropy(sum[:10])
	return again.String()
}

// SecretAgain returns the secret of a run's n-th repetition: as long as the first, up to 64 characters.
func SecretAgain(secret string, n int) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "again %d", n)
	again := hex.EncodeToString(mac.Sum(nil))
	return again[:min(len(secret), len(again))]
}

// CompetingSecret returns the secret of a test beside the one that a run's own secret opens: as long as it, up to 64 characters. No repetition
// of the run has it.
func CompetingSecret(secret string) string { return SecretAgain(secret, -1) }

// Role says why a measurement was made: RolePlanned, RoleDemand, or a step of a diagnosis, "diagnosis/ID/STEP". A Result
// that is neither of a mesh nor of a diagnosis has none.
type Role string

const (
	RolePlanned Role = "planned" // a test of the mesh file asks for it, time and again
	RoleDemand  Role = "demand"  // somebody asked for it once

	roleDiagnosis = "diagnosis/"
)

// DiagnosisRole is the role of a step of the diagnosis that is filed under an ID.
func DiagnosisRole(id, step string) Role { return Role(roleDiagnosis + id + "/" + step) }

// Diagnosis returns the ID of the diagnosis that the measurement is a step of, and the step's name; false if it is none.
func (r Role) Diagnosis() (id, step string, is bool) {
	rest, is := strings.CutPrefix(string(r), roleDiagnosis)
	if !is {
		return "", "", false
	}
	id, step, _ = strings.Cut(rest, "/")
	return id, step, true
}

// Series is the role under which values of the same meaning are filed as one series: of a step of a diagnosis without the
// ID, "diagnosis/STEP".
func (r Role) Series() Role {
	if _, step, is := r.Diagnosis(); is {
		return Role(roleDiagnosis + step)
	}
	return r
}

// RoleOf is the role of a Result or a Run that does not say it: planned if it has a test.
func RoleOf(test string) Role {
	if test != "" {
		return RolePlanned
	}
	return RoleDemand
}

// Way is the way that the data of a measurement went, as seen by its source: Forward, Reverse, Both, or "" where there is
// no one way, as of round trips and of what a host measures of itself.
type Way string

// Both says that data went both ways at once. It is a Way only; a sample always is of one direction.
const Both = "both"

// WayOf returns the way that the data of a task goes, from its kind and its parameters.
func WayOf(kind string, parameters map[string]any) Way {
	switch kind {
	case "fetch":
		return Reverse
	case "throughput", "capacity":
	case "ndt7":
		if parameters["direction"] == nil {
			return Both
		}
	default:
		return ""
	}
	is := func(name string) bool { return parameters[name] == true || parameters[name] == "true" }
	switch direction := parameters["direction"]; {
	case is("bidir") || direction == Both:
		return Both
	case is("reverse") || direction == Reverse:
		return Reverse
	}
	return Forward
}
