// Package respond is the table of what answers at the far end of a probe, for `pathwise respond`, agents and labs.
//
// A Kind says what it answers, where, and how it is opened: for everybody, within Limits (Open), or for the tests of one run alone, by
// a secret that both ends were told (OpenForRun). Each kind has a file of its own here and a line in the table below. Flags of
// `pathwise respond`, the policy of an agent's host, mesh files and pages list what stands there.
//
// It decides nothing: whether a host's owner lets something be opened is for package agent to ask. The protocols are in proto.
package respond

import (
	"context"
	"net"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// Kind is all that is known of one way to answer tests.
type Kind struct {
	Name      string   // as in measure.Responder, agents' policies and mesh files
	Meaning   string   // what it answers, as the words after "answer"
	Probes    []string // kinds of probe whose far end it is; none: programs of others are what comes
	Protocols []string // that its port is of: tcp, udp; none: it is the program's to say
	Port      int      // where probes look for it if nothing else is said; 0: nowhere
	Limits    Limits   // of one that is open to everybody, where nothing else is said

	// Program says that it is a program of others, which whoever is to open it has to start. Open and OpenForRun cannot.
	Program bool
	// Fills says that its tests may fill a link, which takes more than one processor.
	Fills bool
	// Reflects says that it answers packets one by one: it knows of no tests, so that it is open for a run until the run's time is over, and then
	// to the run's peer alone; by the run's secret where the run is Sealed.
	Reflects bool
	// Untold says that its tests do not tell how long they will be: one that is too long is let in, and ended.
	Untold bool
	// Spare is the port that `pathwise respond` answers on where Port is one that only root may open; 0: Port is not.
	Spare int
	// Always says that `pathwise respond` opens it beside the first of the table, on Port, if nothing else is said.
	Always bool

	// check says why a secret cannot be one.
	check func(secret string) error
	// open listens at an address, and returns how it is served: until its context ends, when it ends every goroutine, closes what
	// it opened and returns nil; a lost peer and a failed test end that test alone.
	open func(ctx context.Context, address string, t terms) (net.Addr, serve, error)
}

type serve func(context.Context) error

// AnsweringOn begins the line by which `pathwise respond` says that tests may come.
const AnsweringOn = "answering on "

// Kinds are all kinds. The first is what `pathwise respond` opens whatever is said.
func Kinds() []Kind {
	return []Kind{iperf3Kind(), transactKind(), flowsKind(), ndt7Kind(), owampKind(), twampKind(), stampKind(), commandKind()}
}

// KindOf is the kind of a name; ok is false where there is none.
func KindOf(name string) (k Kind, ok bool) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// Names are the names of all kinds, in the order of the table.
func Names() []string { return namesOf(Kinds()) }

// Listening are the names of the kinds that listen on a port of their own, in the order of the table.
func Listening() []string {
	return namesOf(slices.DeleteFunc(Kinds(), func(k Kind) bool { return k.Program }))
}

// Sealed are the names of the kinds whose packets are authenticated by the secret of a run that is Sealed.
func Sealed() []string {
	return namesOf(slices.DeleteFunc(Kinds(), func(k Kind) bool { return !k.Reflects }))
}

func namesOf(kinds []Kind) []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names
}

// Listed puts names into words: "iperf3, twamp and command".
func Listed(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Lack is what the status of an agent calls it that its host's owner lets no responder of a kind be opened. That of the first kind
// does not name it: agents and controllers of earlier builds know no other that listens.
func Lack(kind string) string {
	if kind == Kinds()[0].Name {
		return "target"
	}
	return "target " + kind
}

// commandKind is a program that a mesh file names, such as a tool's own server. It knows of no secret, and whom it answers is its
// own to say; the agent of its host starts it, away from what the agent keeps, and ends it.
func commandKind() Kind {
	return Kind{
		Name: measure.ResponderCommand, Meaning: "tests of a tool, by the program that the mesh file names as its server",
		Probes: []string{"command"}, Program: true,
	}
}
