package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab/link"
)

// engineName is argv[0] of an engine process: how the binary knows what it is, and how ps shows it.
const engineName = "pathwise-lab-engine"

// The descriptors that an engine is born with.
const (
	bootstrapFD = 3 // socket to the starter: assignment in, Status out; its end ends an attached lab
	listenerFD  = 4 // the control socket, bound in the starter's network namespace
)

// assignment is what the starter tells the engine to do.
type assignment struct {
	Name     string     `json:"name"`
	Spec     *Spec      `json:"spec"`
	Device   DeviceKind `json:"device"`
	Detached bool       `json:"detached"`
}

// RunEngineIfAsked turns the process into a lab's engine if that is what it was started as, and does not return then.
// A program that starts labs calls it first thing in main, a test binary in TestMain.
func RunEngineIfAsked() {
	if !strings.HasPrefix(os.Args[0], engineName+" ") {
		return
	}
	if err := runEngine(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// engine is a running lab, seen from inside.
type engine struct {
	began     ProcessorTime // when the lab came up
	name      string
	plan      *Plan
	links     []Link
	pump      *pump
	hosts     map[string]*namespace
	processes *processes
	device    DeviceKind
	variables []string // for commands: where the meter and the adapters' counters are
	quit      chan error
	files     link.Contents // that shapes name, or did; the pump's lock is its
}

func runEngine() error {
	bootstrap := os.NewFile(bootstrapFD, "bootstrap")
	unix.CloseOnExec(bootstrapFD)
	unix.CloseOnExec(listenerFD)
	runtime.GOMAXPROCS(runtime.NumCPU() + 2) // the pump's thread blocks in system calls; the rest must not wait for it
	debug.SetGCPercent(400)                  // the pump makes no garbage; the control side little

	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	// Caught and dropped, not ignored: what is ignored would be ignored by the lab's commands too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGHUP)

	decoder, reply := json.NewDecoder(bootstrap), json.NewEncoder(bootstrap)
	var task assignment
	if err := decoder.Decode(&task); err != nil {
		return fmt.Errorf("read assignment: %w", err)
	}
	e, err := standUp(&task)
	if err != nil {
		return reply.Encode(errorAnswer(err))
	}
	if err := e.serve(); err != nil {
		return reply.Encode(errorAnswer(err))
	}
	if err := reply.Encode(answer{Ready: &Status{Device: e.device}}); err != nil {
		return fmt.Errorf("report ready: %w", err)
	}
	if task.Detached {
		bootstrap.Close()
	} else {
		go func() {
			_, _ = io.Copy(io.Discard, io.MultiReader(decoder.Buffered(), bootstrap))
			e.quit <- nil
		}()
	}
	select {
	case err := <-e.quit:
		return err
	case <-terminate:
		return nil
	}
}

// standUp builds everything that the assignment describes and starts moving packets.
func standUp(task *assignment) (*engine, error) {
	e := &engine{name: task.Name, plan: NewPlan(task.Spec), links: task.Spec.Links, hosts: map[string]*namespace{}, quit: make(chan error, 4),
		began: ReadProcessorTime()}
	e.processes = reapProcesses()
	if err := privateMounts(e.plan); err != nil {
		return nil, err
	}
	for _, n := range e.plan.Nodes {
		if n.Router {
			continue
		}
		ns, err := newNamespace(n.Name)
		if err != nil {
			return nil, err
		}
		e.hosts[n.Name] = ns
		if err := ns.do(configureHost); err != nil {
			return nil, err
		}
	}
	devices, err := e.openDevices(task.Device)
	if err != nil {
		return nil, err
	}
	ways := newRoutes(e.plan, e.plan.Routes, nil)
	for id, n := range e.plan.Nodes {
		if n.Router {
			continue
		}
		err := e.hosts[n.Name].do(func() error { return errors.Join(addRoutes(e.plan, ways, id), applySysctl(n)) })
		if err != nil {
			return nil, fmt.Errorf("host %s: %w", n.Name, err)
		}
	}
	if e.pump, err = newPump(e.plan, devices, e.plan.largestMTU()); err != nil {
		return nil, err
	}
	if e.variables, err = e.keepMeter(); err != nil {
		return nil, err
	}
	go func() { e.quit <- e.pump.run() }()
	return e, e.startFlows()
}

// openDevices makes every host's interfaces and gives them their addresses.
func (e *engine) openDevices(kind DeviceKind) (map[int]device, error) {
	e.device = kind
	if kind == DeviceAuto {
		e.device = DeviceVeth
	}
	devices := map[int]device{}
	for _, id := range e.plan.HostInterfaces() {
		i := e.plan.Interfaces[id]
		ns := e.hosts[e.plan.Nodes[i.Node].Name]
		var d device
		var err error
		if e.device == DeviceTUN {
			dropped := func() uint64 { return transmitDrops(ns, i.Name) }
			err = ns.do(func() (err error) { d, err = newTUNDevice(i.Name, e.plan.Offload, dropped); return err })
		} else {
			d, err = addVeth(id, i, ns, e.plan.deviceMTU(id), e.plan.ringFrames(), e.plan.Offload)
		}
		if err == nil {
			err = ns.do(func() error { return configureInterface(i, e.plan.deviceMTU(id), e.plan.Offload) })
		}
		if err != nil {
			return nil, fmt.Errorf("host %s: %w", e.plan.Nodes[i.Node].Name, err)
		}
		devices[id] = d
	}
	return devices, nil
}

// serve accepts users on the control socket.
func (e *engine) serve() error {
	file := os.NewFile(listenerFD, "control")
	// The starter listens already. Doing so again makes this process the one whose credentials users see (unix(7),
	// SO_PEERCRED), so that they can await its end.
	if err := unix.Listen(listenerFD, unix.SOMAXCONN); err != nil {
		return fmt.Errorf("listen on control socket: %w", err)
	}
	listener, err := net.FileListener(file)
	file.Close()
	if err != nil {
		return fmt.Errorf("open control socket: %w", err)
	}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				e.quit <- fmt.Errorf("accept on control socket: %w", err)
				return
			}
			go e.converse(c.(*net.UnixConn))
		}
	}()
	return nil
}

// converse answers one connection. Only the user who started the lab may speak: in the engine's eyes that is user 0,
// everyone else being unmapped or less.
func (e *engine) converse(c *net.UnixConn) {
	defer c.Close()
	reply := json.NewEncoder(c)
	if peer, err := peerOf(c); err != nil || peer.Uid != 0 {
		_ = reply.Encode(errorAnswer(errors.Join(err, errors.New("this lab belongs to another user"))))
		return
	}
	r, files, lines, err := readRequest(c)
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	if err != nil {
		_ = reply.Encode(errorAnswer(err))
		return
	}
	switch r.Do {
	case "exec":
		e.exec(r, files, lines, reply)
		return
	case "follow":
		e.follow(r.Follow, ended(lines), reply)
		return
	case "capture":
		_ = reply.Encode(e.captureTo(r.At, files, ended(lines)))
		return
	}
	a, err := e.handle(r)
	if err != nil {
		a = errorAnswer(err)
	}
	_ = reply.Encode(a) // a user who has gone needs no answer
	if r.Do == "down" {
		e.quit <- nil
	}
}

// ended returns a channel that closes when the user says no more.
func ended(lines io.Reader) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, lines)
	}()
	return gone
}
