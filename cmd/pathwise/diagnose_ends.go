package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
)

// endFlags say how the far end of a diagnosis is reached where nothing of ours runs there.
type endFlags struct {
	name, key, knownHosts string
}

func (f *endFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.name, "ssh", "", "log in at the far end as [USER@]HOST[:PORT], run this program there meanwhile, and take it away again; "+
		"without HOST it is the host that is measured, too")
	flags.StringVar(&f.key, "key", "", "file of the private key for --ssh (default: as ssh has them, and ssh-agent)")
	flags.StringVar(&f.knownHosts, "known-hosts", "", "file of the hosts that are known, for --ssh (default: as ssh has them)")
}

// read returns how the far end is reached, nil where it is not, and the target: what the call names, or else the host of --ssh.
func (f *endFlags) read(args []string) (reach *fleet.SSH, target string, err error) {
	if err := checkReach(f.key, f.knownHosts, "--ssh", f.name != ""); err != nil {
		return nil, "", err
	}
	if f.name != "" {
		if reach, err = login(f.name, f.key, f.knownHosts); err != nil {
			return nil, "", badFlag("ssh", err)
		}
	}
	if len(args) > 0 {
		return reach, args[0], nil
	}
	if strings.Contains(reach.Host, ":") {
		return reach, "[" + reach.Host + "]", nil
	}
	return reach, reach.Host, nil
}

// farEnd is this program at the far end of a diagnosis, where it was brought by SSH.
type farEnd struct {
	session *session
	host    string // as the diagnosis calls it
	visit   *fleet.Visit
	at      string            // where it answers
	others  map[string]string // where it answers what else it does, by the kind of responder
	audited bool
	ended   chan struct{} // closed with the far end's context
}

// errFarEndLost says why a diagnosis ends before all of it was measured.
var errFarEndLost = errors.New("the far end's program, or the SSH connection to it, has ended")

// openFar logs in, brings this program there, and has it answer at the address that is measured. The context that it returns ends when the
// far end is lost.
func (s *session) openFar(ctx context.Context, reach *fleet.SSH, name string, address netip.Addr, ports ...string) (*farEnd, context.Context, error) {
	reach.Log = s.log()
	stop := s.ticking("bringing this program to " + reach.Host)
	defer stop()
	visit, err := reach.Visit(ctx)
	if err != nil {
		return nil, ctx, err
	}
	f := &farEnd{session: s, host: name, visit: visit, ended: make(chan struct{})}
	bind := address
	if visit.Local.IsValid() && visit.Remote == address { // behind address translation the host does not know what others call it
		bind = visit.Local
	}
	arguments := append([]string{"respond", "--json", "--end-with-input", "--any-port", "--bind=" + bind.WithZone("").String()}, ports...)
	if err = visit.Start(ctx, arguments...); err == nil {
		err = f.awaitAnswering(ctx)
	}
	if err != nil {
		return nil, ctx, errors.Join(err, visit.Close())
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() { // ends when the program at the far end has, which close sees to
		defer close(f.ended)
		<-visit.Over()
		cancel(fmt.Errorf("%w: %s", errFarEndLost, visit.Says()))
	}()
	return f, ctx, nil
}

// answersWithin is how long the far end's program may take to begin: it opens its ports at once.
const answersWithin = 30 * time.Second

// awaitAnswering reads where the far end says that it answers, and ends the visit where it does not say so in time.
func (f *farEnd) awaitAnswering(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, answersWithin, fmt.Errorf("respond on %s: it does not begin within %v", f.host, answersWithin))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = f.visit.Close() }) // which ends the reading; the caller is told by its own Close
	err := f.readAnswering()
	if !stop() {
		return context.Cause(ctx)
	}
	return err
}

// mostAnswering is more than what a responder says when it begins to answer.
const mostAnswering = 128 << 10

// readAnswering reads where the far end says that it answers.
func (f *farEnd) readAnswering() error {
	var doc struct {
		Address string
		Others  map[string]string
	}
	var text []byte
	lines := bufio.NewScanner(f.visit.Stdout) // which bounds each
	for len(text) < mostAnswering && lines.Scan() {
		if text = append(text, lines.Bytes()...); lines.Text() == "}" {
			break
		}
	}
	if err := document.JSON(text, mostAnswering, &doc); err != nil {
		return fmt.Errorf("respond on %s: %s", f.host, strings.TrimPrefix(f.visit.Says(), "pathwise: "))
	}
	f.at, f.others = doc.Address, doc.Others
	return nil
}

// ports are where the far end answers tests, and transactions; 0: it does not.
func (f *farEnd) ports() (tests, transactions int) {
	return portOf(f.at), portOf(f.others[measure.ResponderTransact])
}

// tellPort adds to the parameters of a task where the far end answers what it asks for; false: it does not.
func (f *farEnd) tellPort(t measure.Task) bool {
	d, err := probe.Demand(t)
	port := portOf(f.others[d.Responder])
	if err != nil || port == 0 {
		return false
	}
	t.Parameters[cmp.Or(d.PortParameter, "port")] = port
	return true
}

// portOf is the port of an address; 0: it has none.
func portOf(address string) int {
	_, port, _ := net.SplitHostPort(address)
	n, _ := strconv.Atoi(port)
	return n
}

// audit reads what the far host is set to.
func (f *farEnd) audit(ctx context.Context, ask host.Ask) (*host.Report, error) {
	call := hostCall{rate: strconv.FormatFloat(ask.Rate, 'f', 0, 64), rtt: ask.RTT.String(), to: ask.To.String()}
	if ask.Rate == 0 {
		call.rate = ""
	}
	if ask.RTT == 0 {
		call.rtt = ""
	}
	if !ask.To.IsValid() {
		call.to = ""
	}
	r, err := auditOf(f.host, func(out io.Writer) (int, string, error) { return f.visit.Run(ctx, out, call.arguments()...) })
	f.audited = f.audited || err == nil
	return r, err
}

// close ends the program at the far end and checks that its folder is gone. The note tells people what was put there and taken away.
func (f *farEnd) close() (note string, err error) {
	err = f.visit.Close()
	const digits = 12 // of the sum, which tell one build from another
	did := fmt.Sprintf("at the far end, %s: this program was brought there by SSH (%s, %s, SHA-256 %s…), answered tests on %s", f.host, f.visit.Folder,
		quantity.FormatSize(f.visit.Size), f.visit.Hash[:digits], f.at)
	if f.audited {
		did += ", read what the host is set to"
	}
	if err != nil {
		return did, err
	}
	<-f.ended
	return did + ", and was ended and taken away", nil
}

// openFar starts this program at the far end, where the call names one for SSH, and takes over the ports at which it answers. The function
// that it returns ends the program, and tells what was put there and taken away.
func (v *survey) openFar(ctx context.Context, address netip.Addr) (context.Context, func() (string, error), error) {
	if v.reach == nil {
		return ctx, func() (string, error) { return "", nil }, nil
	}
	var named []string
	if port, given := v.asked["port"]; given {
		named = append(named, fmt.Sprint("--port=", port))
	}
	if v.transactNamed {
		named = append(named, fmt.Sprint("--transact-port=", v.transactPort))
	}
	far, ctx, err := v.session.openFar(ctx, v.reach, v.target, address, named...)
	if err != nil {
		return ctx, nil, err
	}
	v.far = far
	tests, transactions := far.ports()
	v.asked["port"], v.transactPort = tests, cmp.Or(transactions, v.transactPort)
	v.reflectors = nil
	if port := portOf(far.others[measure.ResponderSTAMP]); port != 0 {
		v.reflectors = []int{port}
	}
	return ctx, far.close, nil
}

// diagnose measures what was asked for, and says what it means. It is nil where nothing can be said about the path; what was measured
// comes with an error.
func (v *survey) diagnose(ctx context.Context, target *diagnose.Target, accept bool) (*diagnose.Diagnosis, error) {
	address, err := v.settle(ctx)
	if err != nil {
		return nil, err
	}
	v.reference, v.unused = readReference(address)
	ctx, leave, err := v.openFar(ctx, address)
	if err != nil {
		return nil, err
	}
	d, err := v.survey(ctx, target, accept)
	did, failed := leave()
	for _, note := range []string{v.unused, did} {
		if d != nil && note != "" {
			d.Notes = append(d.Notes, note)
		}
	}
	return d, errors.Join(err, failed)
}
