package fleet

import (
	"fmt"
	"net/url"
	"strings"
)

const (
	subjectPlan   = "pathwise.plan."   // controller to host
	subjectOrder  = "pathwise.order."  // controller to host, a request
	subjectFiled  = "pathwise.filed."  // controller to host
	subjectStatus = "pathwise.status." // host to controller
	subjectLive   = "pathwise.live."   // host to controller, then the run
	subjectResult = "pathwise.result." // host to controller, a request
	subjectAsk    = "pathwise.ask."    // host to controller: send the last plan

	inbox           = "_INBOX."           // answers to an agent, then its host
	inboxController = "_INBOX_CONTROLLER" // beside every agent's
)

// token writes a name as one token of a subject: what would part it, or match others, becomes %XX. Two names never give
// one token.
func token(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// hostOf is the host that a message came from, by its subject, whose tokens are at least prefix and host.
func hostOf(subject, prefix string) string {
	rest := strings.TrimPrefix(subject, prefix)
	host, _, _ := strings.Cut(rest, ".")
	return untoken(host)
}

func untoken(t string) string {
	name, err := url.PathUnescape(t)
	if err != nil {
		return t // no token of ours, so no host of ours
	}
	return name
}

// Permissions are the subjects that one user of a NATS server may publish and subscribe. What is not named is refused.
type Permissions struct {
	Publish   []string
	Subscribe []string
	Answers   bool // it may answer each request that it gets, once
}

// AgentPermissions are the rights of one host's agent: to speak as itself, to hear what is meant for it, and nothing more.
//
// None of them is of a service of the NATS server, such as JetStream: a server answers with rights of its own, to whatever
// subject a request names, which makes its answer an order of whoever chose the subject.
func AgentPermissions(host string) Permissions {
	h := token(host)
	return Permissions{
		Publish:   []string{subjectStatus + h, subjectLive + h + ".>", subjectResult + h, subjectAsk + h},
		Subscribe: []string{subjectPlan + h, subjectOrder + h, subjectFiled + h, inbox + h + ".>"},
		Answers:   true,
	}
}

// ControllerPermissions are the rights of the controller.
func ControllerPermissions() Permissions {
	return Permissions{
		Publish: []string{subjectPlan + "*", subjectOrder + "*", subjectFiled + "*", inbox + "*.>",
			"$JS.API.STREAM.INFO.*", "$JS.API.STREAM.DELETE.*"}, // of an outside cluster: see removeStreams
		Subscribe: []string{subjectStatus + "*", subjectResult + "*", subjectAsk + "*", subjectLive + ">", inboxController + ".>"},
	}
}
