/** What `npm run bench --` is followed by, and what each program measures. */
export const PROGRAMS = {
  run: 'parts, signing, the write path over sink and anvil, the plain server, reads, MCP',
  write: 'the whole write path over the chain sink, by number of callers',
  read: 'reads over REST and MCP next to a bare uWebSockets.js answer, 32 callers',
  signing: 'signing by both keys in their processes, next to bare native secp256k1 on one core',
  policies:
    "the identity provider's own judgement of a policy of ten rules, and 100,000 past sends before one, each on one core",
  rules: 'the write path by keys without a policy, with ten rules, and with ten that count',
  screening: 'scan, walk and verdict of calldata next to viem decoding the same, on one core',
  watcher: 'CPU and RPC calls per block of following three chains, at four sizes of store',
  flat: 'CPU per send against a small store in turns, restart after a kill, memory',
  overload: 'sends far beyond what the service can do: latency, losses, memory, recovery',
  soak: 'most of what the service can do for long: slopes of memory and latency, a verdict',
  bombs: 'p99 of honest sends next to a client that sends 128 kB bombs: a ratio and a verdict',
  approvals: 'p99 and memory of sends next to calls that wait for approval: ratios and a verdict',
  search: 'the slowest answer to each list, filter and search of a large history, and a verdict',
  cluster:
    'the write path embedded, with a journal in one Postgres, and in one with a standby; or beside standbys that follow, or by several owners at once',
  turns: 'write path, reads and signing next to a built checkout of before, by turns',
  compare: 'nothing: shows how the ratios of two results files differ',
} as const

export type ProgramName = keyof typeof PROGRAMS

export const BENCH_COMMAND = 'npm run bench --'

/** As it is typed. */
export function commandOf(name: ProgramName): string {
  return `${BENCH_COMMAND} ${name}`
}
