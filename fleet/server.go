package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/pathwise-net/pathwise/admission"
	"github.com/pathwise-net/pathwise/input"
)

// ServerConfig says how the NATS server inside the controller is to be.
type ServerConfig struct {
	Keys   *Keyring             // whose controller may give plans and orders, and whose authority signs the certificate
	Agents map[string]AgentKeys // who may come, by host; SetAgents changes it
	Listen string               // HOST:PORT for agents, with TLS; port 0: any; "": nothing listens (in-process and SSH only)
	Log    *slog.Logger         // nil: none

	limits admission.Limits // zero: the usual ones; tests have fewer
}

// Validate checks what a user may have given.
func (c *ServerConfig) Validate() error {
	if c.Keys == nil {
		return input.Errorf("server: no keyring")
	}
	if c.Listen == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(c.Listen)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return input.Errorf("server: listen: %q is no HOST:PORT", c.Listen)
	}
	return nil
}

// Server is a NATS server inside this process. It opens the one port that it was told, or none.
type Server struct {
	keys  *Keyring
	nats  *server.Server
	entry *entry     // nil: nothing listens
	mu    sync.Mutex // one SetAgents at a time
	opts  *server.Options
}

const (
	// maxPayload is the default of NATS. What is longer goes in pieces.
	maxPayload = 1 << 20
	// maxSubscriptions of one connection: an agent needs five, the controller one more for each run that is watched.
	maxSubscriptions = 1000
	// maxControlLine bounds what is read of who has not logged in: our lines take some hundred bytes.
	maxControlLine = 4 << 10
	// A lost peer is noticed within a minute.
	pingEvery = 20 * time.Second
	maxPings  = 2
	// handshakeTime bears a round trip of a second with losses.
	handshakeTime = 10 * time.Second
	startTime     = 15 * time.Second
)

// StartServer starts the server and returns when it takes connections. Close ends it; so does the end of ctx.
func StartServer(ctx context.Context, c ServerConfig) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	opts := c.options()
	n, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("start message server: %w", err)
	}
	log := &serverLog{to: logger(c.Log)}
	n.SetLoggerV2(log, false, false, false)
	n.Start()
	s := &Server{keys: c.Keys, nats: n, opts: opts}
	if !s.ready(ctx, log) {
		s.Close()
		return nil, fmt.Errorf("start message server: %w", log.why())
	}
	if c.Listen != "" {
		if err := s.listen(ctx, c); err != nil {
			s.Close()
			return nil, err
		}
	}
	context.AfterFunc(ctx, s.shut)
	return s, nil
}

// listen opens the entry for agents.
func (s *Server) listen(ctx context.Context, c ServerConfig) error {
	settings, err := c.Keys.ca.server()
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("start message server: %w", err)
	}
	limits := c.limits
	if limits.All == 0 {
		limits = admission.Limits{All: maxConnections, Each: maxFromAddress}
	}
	s.entry = newEntry(listener, settings, s.Dial, logger(c.Log), limits)
	go s.entry.serve()
	return nil
}

func (s *Server) shut() {
	if s.entry != nil {
		s.entry.close()
	}
	s.nats.Shutdown()
}

func (s *Server) ready(ctx context.Context, log *serverLog) bool {
	for end := time.Now().Add(startTime); time.Now().Before(end); {
		if s.nats.ReadyForConnections(100 * time.Millisecond) {
			return log.why() == errNotReady
		}
		if ctx.Err() != nil || log.why() != errNotReady {
			return false
		}
	}
	return false
}

func (c *ServerConfig) options() *server.Options {
	return &server.Options{
		ServerName: serverName, NoSigs: true, DontListen: true,
		MaxPayload: maxPayload, MaxSubs: maxSubscriptions,
		PingInterval: pingEvery, MaxPingsOut: maxPings, WriteDeadline: handshakeTime,
		AuthTimeout: handshakeTime.Seconds(), MaxControlLine: maxControlLine,
		Nkeys: users(c.Keys, c.Agents),
	}
}

// users are the controller and the agents, each with its rights.
func users(k *Keyring, agents map[string]AgentKeys) []*server.NkeyUser {
	all := []*server.NkeyUser{{Nkey: k.public.Login, Permissions: ControllerPermissions().server()}}
	for host, keys := range agents {
		all = append(all, &server.NkeyUser{Nkey: keys.Login, Permissions: AgentPermissions(host).server()})
	}
	return all
}

func (p Permissions) server() *server.Permissions {
	s := &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: p.Publish},
		Subscribe: &server.SubjectPermission{Allow: p.Subscribe},
	}
	if p.Answers {
		s.Response = &server.ResponsePermission{MaxMsgs: 1, Expires: time.Minute}
	}
	return s
}

// SetAgents says who may come from now on. Who is new may connect, who is missing or has other keys is cut off, and all
// others keep their connections.
func (s *Server) SetAgents(agents map[string]AgentKeys) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	opts := s.opts.Clone()
	opts.Nkeys = users(s.keys, agents)
	if err := s.nats.ReloadOptions(opts); err != nil {
		return fmt.Errorf("set agents of message server: %w", err)
	}
	s.opts = opts
	return nil
}

// Addr is where it listens; nil if nothing does.
func (s *Server) Addr() net.Addr {
	if s.entry == nil {
		return nil
	}
	return s.entry.listener.Addr()
}

// Dial opens a connection inside this process, as a Link there or an SSH channel needs it.
func (s *Server) Dial(context.Context) (net.Conn, error) { return s.nats.InProcessConn() }

// Close ends it with all connections, and returns when nothing of it runs.
func (s *Server) Close() {
	s.shut()
	s.nats.WaitForShutdown()
}

var errNotReady = errors.New("it was not ready in time")

// serverLog passes the server's log on. What it notes of its own doings is for those who look for a fault.
type serverLog struct {
	to        *slog.Logger
	outsiders tally
	mu        sync.Mutex
	fatal     error
}

func (l *serverLog) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == nil {
		return errNotReady
	}
	return l.fatal
}

func (l *serverLog) Noticef(f string, v ...any) { l.to.Debug(serverSays(f, v...)) }
func (l *serverLog) Debugf(f string, v ...any)  { l.to.Debug(serverSays(f, v...)) }
func (l *serverLog) Tracef(f string, v ...any)  { l.to.Debug(serverSays(f, v...)) }
func (l *serverLog) Warnf(f string, v ...any)   { l.to.Warn(serverSays(f, v...)) }

func serverSays(f string, v ...any) string { return "message server: " + fmt.Sprintf(f, v...) }

// Errorf takes errors of the server, and what anybody who reaches its port can cause.
func (l *serverLog) Errorf(f string, v ...any) {
	text := serverSays(f, v...)
	for _, by := range []string{"authentication error", "authorization", "Violation", "TLS handshake", "maximum"} {
		if strings.Contains(text, by) {
			l.outsiders.log(l.to, text)
			return
		}
	}
	l.to.Error(text)
}

// Fatalf is called for what keeps the server from working, such as a port that is taken. The server does not end by it.
func (l *serverLog) Fatalf(f string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == nil {
		l.fatal = fmt.Errorf(f, v...)
	}
}

func logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}
