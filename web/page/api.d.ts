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

interface Bucket { start: string; count: number; min: number; mean: number; max: number; quantiles?: number[] }
interface Gap { from: string; to: string; kind: 'missed' | 'failed' | 'unplanned'; runs: number; why?: string }
interface SeriesDoc { step_seconds: number; quantiles: number[]; buckets: Bucket[]; gaps: Gap[] | null }
interface Key { source: string; target: string; test?: string; tool: string; metric: string }

interface Miss { run: string; test?: string; tool: string; source: string; target: string; start: string; why: string }
interface HostDoc {
  name: string;
  site?: string;
  reach: string;
  address: string;
  state: 'here' | 'away' | 'foreign' | 'offline';
  heard?: string;
  clock_behind_seconds?: number;
  status?: { version: string; spooled: number; lacks: { what: string; why: string }[] | null } | null;
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
}

interface Echo { seq: number; sent_seconds: number; rtt_seconds: number | null; from?: string; error?: string; ttl?: number }
interface Interval {
  stream: number; direction: string; end: string; start_seconds: number; end_seconds: number;
  bytes: number; bits_per_second: number; retransmits_packets?: number;
}
interface Hop { ttl: number; addresses: string[] | null; rtt_seconds: (number | null)[] | null; reply?: string }
interface ResultDoc {
  id: string;
  kind: string;
  test?: string;
  tool?: string;
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
    output?: { command: string[]; stdout: string; stderr: string; exit_code: number; truncated?: boolean };
    [kind: string]: unknown;
  };
  notes: string[] | null;
}
interface ResultsDoc { results: ResultDoc[]; next?: string }

interface EventDoc { result?: ResultDoc; miss?: Miss; host?: string; state?: string; plan?: number }
interface MeDoc { name: string; role: string; scopes: string[] | null; public: boolean }
