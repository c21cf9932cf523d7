// What the API answers (package web), as the pages read it.

interface MatrixDoc {
  metric: string;
  unit: string;
  better: 'low' | 'high' | ''; // '': neither is to be wished for
  from: string;
  to: string;
  hosts: { name: string; site?: string }[];
  values: (number | null)[]; // row by row, a row being a source
  counts: number[];
  baseline?: {
    from: string;
    to: string;
    median: (number | null)[];
    low: (number | null)[];
    high: (number | null)[];
  } | null;
}

interface Bucket { start: string; count: number; samples?: number; value: number; min: number; mean: number; max: number; quantiles?: number[]; quantiles_of: 'samples' | 'runs'; weight?: number }
interface Gap { from: string; to: string; kind: 'missed' | 'failed' | 'unplanned'; runs: number; why?: string }
interface SeriesDoc { step_seconds: number; quantiles: number[]; buckets: Bucket[]; gaps: Gap[] | null }
interface Key { source: string; target: string; test?: string; tool: string; role: string; subject?: string; metric: string }

interface Measured { metric: string; tool: string; role: string; series: number; runs: number; latest: string; estimated?: boolean }
interface MeasuredDoc { measured: Measured[] }

interface PairSince { source: string; target: string; since: string | null; longer?: boolean }
interface SinceDoc { since: PairSince[] }

type Aspect = 'loss' | 'throughput' | 'delay';
interface SignDoc { aspect: Aspect; metric: string; since: string; longer: boolean; usual: number; now: number; declared: boolean; ill: number; all: number }
interface SparkDoc { metric: string; from: string; step_seconds: number; values: (number | null)[] }
interface FoundDoc {
  result: string; at: string; source: string; target: string; verdict: string; title: string; severity: string; cause: string;
  unasked: boolean; trouble?: string;
  host?: string; command?: string; cure?: string;
  achieved_bits_per_second?: number; predicted_bits_per_second?: number; // before that, and after it
}
interface TroubleDoc {
  kind: 'from' | 'to' | 'host' | 'link' | 'router' | 'site' | 'pair';
  name: string;
  shown: string; // for people
  source: string; // of the pair that shows it most
  target: string;
  signs: SignDoc[];
  spark: SparkDoc;
  diagnosis: FoundDoc | null;
  begun: { at: string; source: string; target: string } | null; // by itself, and under way
}
interface SummaryDoc {
  at: string;
  troubles: TroubleDoc[];
  more: number;
  hosts: { name: string; site?: string }[];
  classes: number[]; // row by row, a row being a source: 0 nothing known, 2 good, 3 a sign, 4 wrong
  pairs: { source: string; target: string; trouble: number | null; signs: SignDoc[] }[];
  looked: number;
  unknown: number;
  runs: number;
  newest: string | null;
  unasked: { hourly: number; made: number; next: string | null };
}

interface Miss { run: string; test?: string; tool: string; source: string; target: string; start: string; why: string }
interface HostDoc {
  name: string;
  site?: string;
  reach: string;
  address: string;
  state: 'here' | 'away' | 'foreign' | 'offline';
  heard?: string;
  clock_behind_seconds?: number;
  out_of_date?: string[];
  status?: HostStatus | null;
}
interface StatusDoc {
  plan: number;
  runs: number;
  awaited: number;
  on_demand: number;
  warnings: string[] | null;
  trouble?: string;
  unfiled?: string;
  unread?: string;
  hosts: HostDoc[];
  missed: Miss[] | null;
  generated_until?: string;
}

interface Echo { seq: number; sent_seconds: number; rtt_seconds: number | null; from?: string; error?: string; ttl?: number }
interface Interval {
  stream: number; direction: string; end: string; start_seconds: number; end_seconds: number;
  bytes: number; bits_per_second: number; retransmits_packets?: number;
}
interface Hop { ttl: number; addresses: string[] | null; rtt_seconds: (number | null)[] | null; reply?: string; annotation?: string }
interface HopRounds {
  ttl: number; sent_packets: number; lost_packets: number; received_packets: number; loss_ratio: number; from: { address: string; packets: number }[] | null;
  last_seconds: number | null; best_seconds: number | null; mean_seconds: number | null; worst_seconds: number | null; stddev_seconds: number | null;
  jitter_seconds: number | null;
}
interface RoundsSample { rounds: number; hops: HopRounds[]; loss: { end: number; lossy: boolean; hop?: number; limiting?: number[]; verdict: string } }
interface Narrowing { ttl: number; before: number; mtu_bytes: number; address?: string; refused?: boolean }
interface RouteSample { reached: boolean; narrowings?: Narrowing[] }
interface ReturnRoute {
  local: string; seen: string; hops: Hop[] | null; route: RouteSample;
  comparison: { verdict: string; says: string; links: { forward?: number; return?: number; mark: 'shared' | 'other' | 'unknown' }[] | null };
}
interface Middleboxes {
  sent: { name: string; value: string }[] | null; points: { ttl: number; far?: boolean; shown: string }[] | null;
  changes: { field: string; from: string; to: string; after: number; by: number; far?: boolean }[] | null;
}
interface KnownDoc { address: string; name?: string; asn?: number; owner?: string; text: string }
interface WayWords { hops: string[][] | null; lines: string[] | null }
interface RouteWordsDoc { names: Record<string, string>; known: KnownDoc[] | null; route: WayWords; return: WayWords; middleboxes: string[] | null; extent: string; proxy: string }
interface PathVertex { ttl: number; address: string; final?: boolean; balancing?: 'flow' | 'packet'; flows: number; rtt_seconds?: number }
interface PathLink { from: number; to: number; certain: boolean; translated?: boolean }
interface PathsSample { vertices: PathVertex[]; links: PathLink[]; confidence_ratio: number; complete: boolean; sent_packets: number; flows: number }
interface ResultDoc {
  id: string;
  kind: string;
  test?: string;
  tool?: string;
  role?: string;
  status: 'ok' | 'partial' | 'failed';
  error: string | null;
  source: { name: string; address: string };
  target: { name: string; address: string };
  started: string;
  duration_seconds: number;
  parameters: Record<string, unknown>;
  metrics: Record<string, number>;
  clock: { synchronized: boolean; error_seconds: number };
  samples: {
    echoes?: Echo[];
    intervals?: Interval[];
    tcp_info?: Record<string, number | string>[];
    hops?: Hop[];
    route?: RouteSample;
    rounds?: RoundsSample;
    back_narrows?: Narrowing;
    return?: ReturnRoute;
    middleboxes?: Middleboxes;
    paths?: PathsSample;
    sweep?: Sweep;
    beside?: BesideSample[];
    flows?: Flow[];
    members?: Member[];
    pairs?: MemberPair[];
    findings?: Finding[];
    port?: { finding: string; says: string; evidence: string[]; unknown?: string };
    output?: { command: string[]; stdout: string; stderr: string; exit_code: number; truncated?: boolean };
    [kind: string]: unknown;
  };
  notes: string[] | null;
}
interface BesideFlow { congestion_control?: string; bits_per_second: number; received_bytes: number; share_ratio: number; retransmits_packets?: number; retransmitted_ratio?: number; rtt_median_seconds?: number }
interface BesideSample {
  congestion_control?: string; tested: BesideFlow; competing?: BesideFlow; apart_seconds?: number; metrics?: Record<string, number>; round_trips_by?: string; failure?: string;
}
interface SweepPoint {
  values: (number | string)[]; n: number; mean: number; low: number; high: number; narrow: boolean; failure?: string;
  metrics?: Record<string, number>; window?: { usable_bytes: number; rtt_seconds: number; allows_bits_per_second: number };
}
interface Mark { x: number; y: number | null; width: number }
interface Flow {
  name: string; direction: string; start_seconds: number; end_seconds: number; sent_packets: number; skipped_packets: number; refused_packets: number; late_p95_seconds: number;
  arrived: {
    lost_packets: number; loss_burst_max_packets: number; duplicate_packets: number; reordered_packets: number; throughput_bits_per_second: number; ipdv_p95_seconds: number;
    over_time?: { interval_seconds: number; sent_packets: number[]; received_packets: number[]; received_bytes: number[]; delay_max_seconds: (number | null)[] };
  } | null;
}
interface Sweep {
  metric: string; unit: string; parameters: { name: string; unit?: string }[]; points: SweepPoint[]; order: number[]; seed: number;
  within_ratio: number; ended: 'narrow' | 'budget' | 'failed' | 'broken';
}
interface Member { id: string; name: string; address: string; self?: boolean; sent_packets: number }
interface MemberPair {
  from: number; to: number; final: boolean;
  sent_packets: number; received_packets: number; duplicate_packets: number; reordered_packets: number; reordering_extent_max_packets: number; loss_burst_max_packets: number;
  hops_min?: number; hops_max?: number; clock_error_seconds?: number;
  delay_min_seconds?: number; delay_median_seconds?: number; delay_p95_seconds?: number; pdv_p95_seconds?: number; ipdv_p95_seconds?: number;
}
interface ComparedTool {
  tool: string; kind: string; metric: string; runs: number; failed: number; median: number; low: number; high: number; spread_ratio: number;
  deviation_ratio: number | null; reference: boolean; seconds: number; bytes: number | null;
}
interface ComparedDoc { tools: ComparedTool[] | null }
interface ResultsDoc { results: ResultDoc[]; next?: string }

interface EventDoc { result?: ResultDoc; miss?: Miss; host?: string; state?: string; plan?: number }
interface JoiningDoc { enabled: boolean; at?: string; alone: boolean; suggested?: string; hosts: number }
interface InvitationDoc extends Omit<JoiningDoc, 'enabled' | 'hosts'> { command: string; expires: string }
interface MeDoc { name: string; kind: string; role: string; scopes: string[] | null; public: boolean; shortest_password: number; labs: boolean; insecure: boolean; generated_until?: string }

interface ChangeDoc { at: string; kind: 'route' | 'finding' | 'step' | 'configuration'; severity: 'info' | 'warning' | 'problem'; text: string; result?: string; by?: string; source?: string; target?: string; before?: string }
interface ChangesDoc { changes: ChangeDoc[] | null; more: boolean }
interface RouteHop { ttl: number; addresses: string[] | null }
interface RouteDoc { test?: string; tool: string; role: string; family: string; first: string; last: string; results: number; result: string; hops: RouteHop[]; changed: number[] | null }
interface HeldRoute { first: string; last: string; results: number; result: string; hops: RouteHop[]; changed: number[] | null }
interface MovedDoc { text: string; before: HeldRoute; after: HeldRoute; delay_before_seconds: HistoryLevel | null; delay_after_seconds: HistoryLevel | null; delay_step_seconds: HistoryLevel | null; confidence: number }
interface TurnsDoc { text: string; how: 'balanced' | 'flapping' | 'addresses'; first: string; last: string; results: number; switches: number; routes: HeldRoute[]; ttls: number[] }
interface VaryingDoc { text: string; ttl: number; how: string; addresses: string[] | null; results: number; of: number; first: string }
interface BriefDoc { first: string; last: string; results: number; result: string; hops: RouteHop[]; changed: number[] | null }
interface CourseDoc {
  test?: string; tool: string; role: string; family: string;
  changes: MovedDoc[]; turns: TurnsDoc[]; varying: VaryingDoc[]; brief: BriefDoc[]; delays: { at: string; seconds: number }[];
}
interface RoutesDoc { routes: RouteDoc[] | null; courses: CourseDoc[] | null; names: Record<string, string>; known: KnownDoc[] | null; more: boolean }

interface RouteNode { host?: string; addresses: string[]; pairs: number }
interface RouteLink { from: number; to: number; pairs: number; sure: boolean; silent?: number; appeared?: string; left?: string }
interface RouteGraphDoc { from: string; to: string; nodes: RouteNode[]; links: RouteLink[]; pairs: number; names: Record<string, string>; known: KnownDoc[] | null; more: boolean }

interface HostStatus {
  at: string; version: string; platform: string; plan: number;
  running: string[] | null; open: string[] | null; spooled: number;
  clock: { synchronized: boolean; error_seconds: number };
  lacks: MissingCapability[] | null;
}
interface MissingCapability { kind?: string; what: string; why: string }
interface PlannedRun { run: string; test?: string; tool: string; source: string; target: string; start: string; end: string; exclusive?: boolean }
interface ToolDoc {
  name: string; kind: string; of_mesh: boolean; usage: string; duration_seconds: number; exclusive: boolean;
  parameters: { name: string; type: string; default: string; usage: string }[];
}

interface Progress { run: string; interval?: Interval; echo?: Echo; rounds?: RoundsSample; line?: string; result?: ResultDoc }
// A line of the answer to POST /runs or /diagnoses.
interface RunLine {
  run?: string; begins?: string; progress?: Progress; error?: string;
  plan?: PlannedStep[]; step?: string; state?: 'waiting' | 'running' | 'done' | 'failed';
  diagnosis?: DiagnosisDoc; id?: string;
}
interface PlannedStep { step: string; tool: string; why: string; seconds: number }
interface Finding {
  way?: string; // forward, reverse, or "" of both or neither
  id: string; severity: 'info' | 'warning' | 'problem'; confidence: number; where: string; explanation: string;
  evidence: { metric: string; value: number; unit: string; means: string }[] | null;
  advice: { host: string; command: string; why: string }[] | null;
  predicted: { throughput_bits_per_second: number; basis: string } | null;
}
interface DiagnosisDoc {
  verdict: string; findings: Finding[] | null; results: ResultDoc[] | null;
  expected_bits_per_second: number | null; achieved_bits_per_second: number; notes: string[]; history?: HistoryDoc; segments?: PartsDoc;
}
interface PartsDoc {
  way: string; rtt_seconds: number; achieved_bits_per_second: number; needed_bits_per_second: number;
  verdict: 'one' | 'several' | 'left' | 'none' | 'unknown'; blamed: string[] | null; says: string;
  segments: PartDoc[] | null; points: { name: string; address: string; state: string; means: string }[] | null;
  results: (string | ResultDoc)[] | null; // or their IDs, where it was filed
}
interface EstimateDoc { value: number; low: number; high: number }
interface PartDoc {
  from: string; to: string; rtt_seconds: number | null; loss_ratio: EstimateDoc | null; throughput_bits_per_second: number | null;
  could_reach_bits_per_second: EstimateDoc | null; outcome: 'pass' | 'fail' | 'unknown'; means: string;
}
interface HistoryLevel { value: number; low: number; high: number; runs: number }
interface HistoryEvent {
  after: string; until: string; ended: string | null; findings: string[]; severity: 'info' | 'warning' | 'problem'; sentence: string; together: string;
  changed: { metric: string; shape: 'step' | 'creep'; before: HistoryLevel; now: HistoryLevel; confidence: number; last?: string; first?: string }[];
  route?: { text: string; before: number; now: number; last: string; first: string };
  with: string[]; pairs: { source: string; target: string }[]; looked: number; shared: { kind: string; name: string; changed: number; all: number }[];
}
interface HistoryDoc { source: string; target: string; from: string; to: string; events: HistoryEvent[] }

interface AccountDoc { name: string; role: string; disabled: boolean; password: boolean; made: string; invited_until?: string }
interface TokenDoc { name: string; scopes: string[]; made: string; made_by: string; expires?: string; used?: string }
interface AuditEntry { time: string; who?: string; kind: string; from?: string; what: string; on?: string; outcome: string }

interface CalcInput { name: string; kind: string; usage: string; default: string; optional: boolean; choices?: string[] }
interface CalcFormula { name: string; title: string; source: string; examples: string[]; inputs: CalcInput[] }
interface CalcLine { name: string; label: string; value: number; unit: string; text: string; formula?: string; numbers?: string }
interface CalcAxis { label: string; unit: string; log: boolean }
interface CalcDrawing {
  title: string; x: CalcAxis; y: CalcAxis; mark: [number, number];
  series: { label: string; points: [number, number][] }[];
}

interface FileDoc { name: string; text: string }
interface ConfigDoc { version: string; folder: boolean; files: FileDoc[]; in_force: string; trouble?: string; read_only?: string }
interface ConfigProblem { file: string; line: number; column: number; text: string }
interface ConfigFigures {
  hosts: number; tests: number; pairs: number; runs_per_day: number; bytes_per_day: number;
  cycle_seconds: number; lower_bound_seconds: number; archive_bytes_per_year: number;
}
interface ConfigOutcome {
  version: string; errors: ConfigProblem[] | null; before?: ConfigFigures; after?: ConfigFigures;
  changes: string[] | null; warnings: { text: string; new: boolean }[] | null; diff: string;
}
interface ConfigVersionDoc { id: string; at: string; by: string; comment: string; version: string; current: boolean }
interface ConfigHistoryDoc { kept: number; versions: ConfigVersionDoc[] | null }
interface ConfigPastDoc extends ConfigVersionDoc { files: FileDoc[]; diff: string }

interface LabNode { name: string; kind: 'host' | 'router'; addresses: string[] }
interface LabWay {
  settings: Record<string, string>; values: Record<string, number>;
  packets: number; delivered_packets: number; delivered_bytes: number; lost_packets: number; dropped: Record<string, number>;
  duplicated_packets: number; reordered_packets: number; corrupted_packets: number; queue_packets: number; queue_bytes: number;
}
interface LabLink { number: number; between: [string, string]; forward: LabWay; reverse: LabWay }
interface LabChange { id: number; at: string; by: string; link: number; direction: string; what: string; for_seconds?: number }
interface LabDoc { name: string; began: string; seconds: number; nodes: LabNode[]; links: LabLink[]; changes: LabChange[]; emulator?: string; testing: boolean }
interface LabFault { name: string; title: string; text: string; settings: string[]; whole?: boolean; for_seconds?: number }
interface LabLine { echo?: Echo; interval?: Interval; result?: ResultDoc; diagnosis?: DiagnosisDoc; error?: string }
interface KnowledgeEntry { id: string; kind: string; title: string; also?: string[]; field?: string; text: string; shows: string; cure: string; see: string[]; source: string; picture?: CalcDrawing & { marked: string; text: string } }
