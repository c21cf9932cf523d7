package probe

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/pathwise-net/pathwise/input"
)

// Names in the domain name system.
const (
	schemeDNS = "dns"
	dnsRoot   = "."
	// dnsPayload is how much of an answer may come in one datagram (RFC 6891 section 6.2.5): what no path has to cut into fragments.
	dnsPayload = 1232
)

// dnsTypes are the types of records that can be asked for, as the registry of IANA numbers them.
var dnsTypes = map[string]dnsmessage.Type{"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "PTR": 12, "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33,
	"DS": 43, "DNSKEY": 48, "HTTPS": 65, "CAA": 257}

func dnsTypeNames() []string { return slices.Sorted(maps.Keys(dnsTypes)) }

// dnsScheme asks a name server for a record (RFC 1035), by UDP, with recursion desired. Answers are those without an error, and "no such name"
// (NXDOMAIN), which is the truth about the name; SERVFAIL, REFUSED and the like are no answers.
func dnsScheme() appScheme {
	return appScheme{name: schemeDNS, port: 53, takes: []string{"name", "type"}, ahead: 110, back: 200,
		remedy: "does a name server run there, and does it serve this host?",
		service: func(p App) (appService, error) {
			name, err := dnsName(p.Name)
			return dnsService{dnsmessage.Question{Name: name, Type: dnsTypes[p.Type], Class: dnsmessage.ClassINET}}, err
		}}
}

// dnsName is a name as it stands in a message; the error is an input.Error.
func dnsName(text string) (dnsmessage.Name, error) {
	whole := strings.TrimSuffix(text, dnsRoot) + dnsRoot
	name, err := dnsmessage.NewName(whole)
	bad := err != nil || len(whole) > appMaxName+1
	for label := range strings.SplitSeq(strings.TrimSuffix(whole, dnsRoot), dnsRoot) {
		bad = bad || len(label) > 63 || label == "" && whole != dnsRoot
	}
	if bad {
		return name, &input.Error{Field: "name", Value: text, Remedy: "give a name such as www.example.org, of labels of 1 to 63 characters"}
	}
	return name, nil
}

type dnsService struct{ question dnsmessage.Question }

func (s dnsService) exchange(ctx context.Context, to netip.AddrPort) (appAnswer, error) {
	id := uint16(rand.Uint32()) // with the random port, what somebody who forges an answer must guess (RFC 5452)
	request, err := dnsQuery(id, s.question)
	if err != nil {
		return appAnswer{}, err
	}
	var code dnsmessage.RCode
	var truncated bool
	_, sent, came, err := askDatagram(ctx, to, request, func(message []byte) (is bool) {
		code, truncated, is = dnsAnswer(message, id, s.question)
		return is
	})
	if err != nil {
		return appAnswer{}, err
	}
	said := dnsCode(code)
	if code != dnsmessage.RCodeSuccess && code != dnsmessage.RCodeNameError {
		return appAnswer{}, fmt.Errorf("the server answers %s", said)
	}
	if truncated {
		said += ", cut short"
	}
	return appAnswer{rtt: came.Sub(sent), said: said}, nil
}

// dnsQuery is a query with one question, which allows answers of dnsPayload bytes.
func dnsQuery(id uint16, question dnsmessage.Question) ([]byte, error) {
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: id, RecursionDesired: true})
	var extension dnsmessage.ResourceHeader
	err := b.StartQuestions()
	if err == nil {
		err = b.Question(question)
	}
	if err == nil {
		err = b.StartAdditionals()
	}
	if err == nil {
		err = extension.SetEDNS0(dnsPayload, dnsmessage.RCodeSuccess, false)
	}
	if err == nil {
		err = b.OPTResource(extension, dnsmessage.OPTResource{})
	}
	if err != nil {
		return nil, fmt.Errorf("write query: %w", err)
	}
	return b.Finish()
}

// dnsAnswer reads the head of a message. is: it answers the question of that ID. A server that understands nothing of a query may leave the
// question out, and says so by FORMERR (RFC 6891 section 7).
func dnsAnswer(message []byte, id uint16, question dnsmessage.Question) (code dnsmessage.RCode, truncated, is bool) {
	var p dnsmessage.Parser
	h, err := p.Start(message)
	if err != nil || !h.Response || h.ID != id {
		return 0, false, false
	}
	asked, err := p.AllQuestions()
	if err != nil || len(asked) == 0 && h.RCode != dnsmessage.RCodeFormatError || len(asked) > 1 {
		return 0, false, false
	}
	if len(asked) == 1 && (asked[0].Type != question.Type || asked[0].Class != question.Class ||
		!strings.EqualFold(asked[0].Name.String(), question.Name.String())) {
		return 0, false, false
	}
	return h.RCode, h.Truncated, true
}

// dnsCode is the outcome of a query by its name in RFC 1035 section 4.1.1 and RFC 2136.
func dnsCode(code dnsmessage.RCode) string {
	names := []string{"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"}
	if int(code) < len(names) {
		return names[code]
	}
	return fmt.Sprintf("RCODE %d", code)
}
