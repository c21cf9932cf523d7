package export

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pathwise-net/pathwise/archive"
)

// State is how the controller is at the moment of a scrape.
type State struct {
	Hosts   []Host
	Queued  int // runs on demand that wait for their turn
	Archive archive.Stats
}

// Host is what a scrape shows of one host of the mesh.
type Host struct {
	Name    string // must be unique
	Here    bool   // it reported lately
	Running int    // runs
	Spooled int    // Results that it keeps until they are filed
}

var (
	hostLabels = []string{"host"}

	descBuild = prometheus.NewDesc(prefix+"build_info",
		"1, with the version as labels.", []string{"goversion", "version"}, nil)
	descHosts = prometheus.NewDesc(prefix+"hosts",
		"Hosts of the mesh that report (here) or do not (away).", []string{"state"}, nil)
	descQueue = prometheus.NewDesc(prefix+"queued_runs", "Runs on demand that wait for their turn.", nil, nil)

	descAgentUp      = prometheus.NewDesc(prefix+"agent_up", "Whether the host's agent reports: 1 or 0.", hostLabels, nil)
	descAgentRunning = prometheus.NewDesc(prefix+"agent_running_runs", "Runs that the host does now.", hostLabels, nil)
	descAgentSpooled = prometheus.NewDesc(prefix+"agent_spooled_results",
		"Results that the host keeps until they are filed, as it said last.", hostLabels, nil)

	descStreams = prometheus.NewDesc(prefix+"archive_streams",
		"Streams in the archive: source, target, test, tool and kind.", nil, nil)
	descQueued = prometheus.NewDesc(prefix+"archive_queued_results",
		"Results that wait to be committed to the archive.", nil, nil)
	descPending = prometheus.NewDesc(prefix+"archive_pending_values",
		"Values that are in the archive's journal and not yet in its points and rollups.", nil, nil)
	descMoving = prometheus.NewDesc(prefix+"archive_move_failing",
		"1 if values could not be moved from the archive's journal when that was tried last, else 0.", nil, nil)
	descFiled = prometheus.NewDesc(prefix+"archive_filed_results_total",
		"Results filed since the archive was opened.", nil, nil)
	descDuplicates = prometheus.NewDesc(prefix+"archive_duplicate_results_total",
		"Results that came again and were filed before.", nil, nil)
	descTooOld = prometheus.NewDesc(prefix+"archive_expired_results_total",
		"Results that came when the retention rules no longer kept them.", nil, nil)
	descCommits = prometheus.NewDesc(prefix+"archive_commits_total", "Transactions of the archive.", nil, nil)
)

func (s State) collect(out chan<- prometheus.Metric) {
	here, seen := 0, map[string]bool{}
	for _, h := range s.Hosts {
		name := label(h.Name)
		if h.Here {
			here++
		}
		if seen[name] {
			continue // two names that are one as labels: the sum above is still right
		}
		seen[name] = true
		gauge(out, descAgentUp, bit(h.Here), name)
		gauge(out, descAgentRunning, float64(h.Running), name)
		gauge(out, descAgentSpooled, float64(h.Spooled), name)
	}
	gauge(out, descHosts, float64(here), "here")
	gauge(out, descHosts, float64(len(s.Hosts)-here), "away")
	gauge(out, descQueue, float64(s.Queued))
	collectArchive(out, s.Archive)
}

func collectArchive(out chan<- prometheus.Metric, a archive.Stats) {
	gauge(out, descStreams, float64(a.Streams))
	gauge(out, descQueued, float64(a.Queued))
	gauge(out, descPending, float64(a.Pending))
	gauge(out, descMoving, bit(a.MoveError != ""))
	counter(out, descFiled, float64(a.Filed))
	counter(out, descDuplicates, float64(a.Duplicates))
	counter(out, descTooOld, float64(a.TooOld))
	counter(out, descCommits, float64(a.Commits))
}

func collectBuild(out chan<- prometheus.Metric, version string) {
	gauge(out, descBuild, 1, runtime.Version(), label(version))
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
