/**
 * The suites of `npm run test:long`: tests that need a program of the system, and tests that take
 * long. `vitest.config.ts` reads which files it leaves out unless asked; `test-long.mjs` runs a row.
 * Plain JavaScript, because both read it before anything is built; `suites.d.mts` has its types.
 */

/** Files that run only where the variable is `1`. Those of a folder start processes. */
export const ON_REQUEST = {
  PKCS11: 'test/pkcs11/**',
  PASSKEY: 'test/passkey/**',
  PAGES: 'test/pages/**',
  CONSOLE: 'test/console-browser/**',
  COLD_LOAD: 'test/cold-load/**',
  RUNTIMES: 'test/runtimes/**',
  JOURNAL: 'test/journal-postgres/**',
  JOURNAL_RESTATE: 'test/journal-restate/**',
  CLUSTER_FAULTS: 'test/cluster-faults/**',
  CLUSTER_TAKE_OVERS: 'test/cluster-failovers/**',
  PACKAGE: 'test/package/**',
  RESTORE: 'test/restore/**',
  SYSTEMD: 'test/systemd/analyze.test.ts',
  ALERTS: 'test/observability/promtool.test.ts',
  MCP_CONFORMANCE: 'test/mcp/conformance.test.ts',
}

/** One file after the other: each starts what fills the machine. */
const ONE_BY_ONE = '--no-file-parallelism'

/** @type {readonly import('./suites.mjs').Suite[]} */
export const SUITES = [
  {
    name: 'core',
    does: 'Decisions of the actors under 2,000 random orders of events.',
    takes: 'tens of minutes',
    env: { CORE_SEEDS: '2000' },
    files: ['test/core'],
  },
  {
    name: 'subkeys',
    does: 'Sub-keys under a million random steps.',
    takes: 'tens of minutes',
    env: { CORE_SEEDS: '40000' },
    files: ['test/core/sub-keys.test.ts'],
  },
  {
    name: 'sends',
    does: 'The nonces and outcomes of sends over 100,000 random histories of a chain.',
    takes: 'minutes',
    env: { SEND_HISTORIES: '100000' },
    files: ['test/chains/send-histories.test.ts'],
  },
  {
    name: 'policies',
    does: 'Both judges of policies agree on a million calls under random policies.',
    takes: 'hours',
    env: { POLICY_AGREEMENT_CALLS: '1000000', POLICY_RUNS: '100000', POLICY_DIFF_PAIRS: '10' },
    files: ['test/policy'],
    args: ['--testTimeout=3600000'],
  },
  {
    name: 'screening-fuzz',
    does: 'Each property of screening under 100,000 random inputs.',
    takes: 'minutes',
    env: { SCREENING_FUZZ_RUNS: '100000' },
    files: ['test/screening/fuzz.test.ts'],
  },
  {
    name: 'malformed',
    does: 'Sends 200,000 malformed requests; the service answers each and stays up.',
    takes: 'tens of minutes',
    env: { MALFORMED_REQUESTS: '200000' },
    files: ['test/e2e/malformed.test.ts', 'test/http/malformed.test.ts'],
  },
  {
    name: 'openapi',
    does: 'The OpenAPI document, and the types and examples made from it.',
    takes: 'minutes',
    files: ['test/api'],
  },
  {
    name: 'mcp-differential',
    does: 'MCP answers 20,000 random requests as the protocol package does.',
    takes: 'minutes',
    env: { MCP_DIFFERENTIAL_REQUESTS: '20000' },
    files: ['test/mcp/differential.test.ts'],
  },
  {
    name: 'mcp-conformance',
    does: "The protocol's own conformance suite, which npx brings from the npm registry with Node 22.",
    takes: 'minutes',
    on: 'MCP_CONFORMANCE',
    files: ['test/mcp/conformance.test.ts'],
  },
  {
    name: 'faults',
    does: 'Three runs of 2,000 sends and calls under random faults.',
    takes: 'tens of minutes',
    env: { FAULTS_RUNS: '3', FAULTS_TRANSACTIONS: '2000', FAULTS_WALLETS: '20' },
    files: ['test/faults'],
  },
  {
    name: 'crash',
    does: 'Kills the service under load with SIGKILL, 20 rounds.',
    takes: 'tens of minutes',
    env: {
      CRASH_ROUNDS: '20',
      CRASH_SENDS: '500',
      CRASH_CONNECTIONS: '50',
      CRASH_CAP_USD: '100',
      CRASH_KILLS: '2',
    },
    files: ['test/e2e/crash.test.ts'],
  },
  {
    name: 'approval-kills',
    does: 'Kills the service while calls wait for approval, 200 times.',
    takes: 'tens of minutes',
    env: { APPROVAL_KILLS: '200' },
    files: ['test/e2e/crash.test.ts'],
    args: ['-t', 'a call that waits'],
  },
  {
    name: 'change-kills',
    does: 'Kills the identity provider during changes of grants, 100 times.',
    takes: 'tens of minutes',
    env: { CHANGE_KILLS: '100' },
    files: ['test/custody/outages.test.ts'],
    args: ['-t', 'amid changes'],
  },
  {
    name: 'custody',
    does: 'The custody protocol under 28 attacks, reported by guarantee.',
    takes: 'tens of minutes',
    files: ['test/custody', 'test/console/authorizers.test.ts'],
    args: ['--reporter=default', '--reporter=./test/custody/guarantees-reporter.ts'],
  },
  {
    name: 'drains',
    does: 'Attacks on the USD cap of a key; each is refused or counted.',
    takes: 'minutes',
    files: ['test/drains'],
  },
  {
    name: 'live',
    does: 'From an empty directory to a running service, and back from the loss of its machine.',
    takes: 'minutes',
    env: { LIVE_RESTORE: '1' },
    files: ['test/live'],
  },
  {
    name: 'restore',
    does: 'Machines are lost under load and come back from a backup.',
    takes: 'tens of minutes',
    on: 'RESTORE',
    env: { LIVE_RESTORE: '1' },
    files: ['test/restore', 'test/custody/backup.test.ts', 'test/live'],
  },
  {
    name: 'package',
    does: 'The package as npm installs it: a whole instance, Node, Deno and Bun.',
    takes: 'minutes',
    on: 'PACKAGE',
    files: ['test/package'],
    short: { does: 'Without what downloads.', env: { PACKAGE_SHORT: '1' } },
  },
  {
    name: 'runtimes',
    does: 'What depends on the version of Node, on 20, 22 and 24 from the npm registry.',
    takes: 'tens of minutes',
    on: 'RUNTIMES',
    program: 'scripts/test-runtimes.mjs',
    short: { does: 'The newest Node only, and fewer files.', args: ['--short'] },
  },
  {
    name: 'pkcs11',
    does: 'Keys in PKCS#11 tokens, from the key store to a live service.',
    takes: 'minutes',
    needs: ['softhsm2'],
    on: 'PKCS11',
    files: ['test/pkcs11'],
  },
  {
    name: 'passkey',
    does: 'Sign-in and approvals by a passkey in Chromium.',
    takes: 'minutes',
    needs: ['chromium'],
    on: 'PASSKEY',
    files: ['test/passkey'],
  },
  {
    name: 'pages',
    does: 'The pages of the service in Chromium.',
    takes: 'minutes',
    needs: ['chromium'],
    on: 'PAGES',
    files: ['test/pages'],
  },
  {
    name: 'console',
    does: 'The console in Chromium, by the keyboard only.',
    takes: 'tens of minutes',
    needs: ['chromium'],
    on: 'CONSOLE',
    env: { CONSOLE_TIMED: '1' },
    files: ['test/console-browser'],
    args: ['--maxWorkers=1'],
    short: {
      does: 'Without dark colours, narrow windows, and the service killed.',
      env: { CONSOLE_SHORT: '1' },
      files: ['test/console-browser/console.test.ts'],
      args: [],
    },
  },
  {
    name: 'console-cold',
    does: "How long the console's first page takes in Chromium when nothing is cached.",
    takes: 'minutes',
    needs: ['chromium'],
    on: 'COLD_LOAD',
    files: ['test/cold-load'],
    args: ['--reporter=verbose'],
  },
  {
    name: 'systemd',
    does: 'systemd-analyze verifies and scores the units.',
    takes: 'seconds',
    needs: ['systemd'],
    on: 'SYSTEMD',
    files: ['test/systemd/analyze.test.ts'],
  },
  {
    name: 'alerts',
    does: 'promtool checks and tests the alert rules.',
    takes: 'seconds',
    needs: ['prometheus'],
    on: 'ALERTS',
    files: ['test/observability'],
  },
  {
    name: 'journal',
    does: 'The journal in Postgres, and 3,000 races of three takers there and in memory.',
    takes: 'tens of minutes',
    needs: ['postgresql'],
    on: 'JOURNAL',
    env: { JOURNAL_RACES: '3000' },
    files: ['test/journal-postgres', 'test/journal'],
    short: { does: 'Postgres only, and fewer races.', env: {}, files: ['test/journal-postgres'] },
  },
  {
    name: 'journal-takeover',
    does: 'Ten times each, a leader or an identity provider ends, and its standby takes over.',
    takes: 'tens of minutes',
    needs: ['postgresql'],
    on: 'JOURNAL',
    env: { TAKE_OVERS: '10' },
    files: [
      'test/journal-postgres/failover.test.ts',
      'test/journal-postgres/identity-failover.test.ts',
    ],
    args: [ONE_BY_ONE],
  },
  {
    name: 'journal-restate',
    does: 'The journal in Restate, and 3,000 races of three takers.',
    takes: 'tens of minutes',
    needs: ['restate'],
    on: 'JOURNAL_RESTATE',
    env: { JOURNAL_RACES: '3000' },
    files: ['test/journal-restate'],
    args: [ONE_BY_ONE],
    short: { does: 'Fewer races.', env: {} },
  },
  {
    name: 'restate-nodes',
    does: 'Restate on three nodes keeps the contract; a service with a journal in it comes back.',
    takes: 'minutes',
    needs: ['restate'],
    on: 'JOURNAL_RESTATE',
    env: { JOURNAL_RACES: '30' },
    files: ['test/journal-restate/conformance.test.ts', 'test/journal-restate/service.test.ts'],
    args: [
      ONE_BY_ONE,
      '-t',
      '^(Restate on three nodes|a service with a journal in Restate comes back)',
    ],
  },
  {
    name: 'cluster-faults',
    does: 'Ten seeds of each fault of a cluster, under load; CLUSTER_FAULTS_ENGINE=restate for Restate.',
    takes: 'hours',
    needs: ['postgresql'],
    needsBy: { CLUSTER_FAULTS_ENGINE: { restate: 'restate' } },
    on: 'CLUSTER_FAULTS',
    files: ['test/cluster-faults'],
    args: [ONE_BY_ONE],
    short: {
      does: 'One seed of two faults.',
      env: {
        CLUSTER_FAULTS_SEEDS: '1',
        CLUSTER_FAULTS_ONLY: 'owner killed,identity provider killed',
      },
    },
  },
  {
    name: 'cluster-takeovers',
    does: 'Kills 20 leaders one after another while 20 processes take all the CPU.',
    takes: 'tens of minutes',
    needs: ['postgresql'],
    on: 'CLUSTER_TAKE_OVERS',
    files: ['test/cluster-failovers'],
  },
  {
    name: 'nodes',
    does: 'The end-to-end suite and the HTTP part of custody against a node that forwards.',
    takes: 'tens of minutes',
    needs: ['postgresql'],
    env: { NODES: '2' },
    files: [
      'test/e2e',
      'test/console/authorizers.test.ts',
      'test/custody/service-boots.test.ts',
      'test/custody/service-elsewhere.test.ts',
      'test/custody/live.test.ts',
    ],
    args: [ONE_BY_ONE],
  },
  {
    name: 'nodes-acceptance',
    does: 'The acceptance checks beside a clone, against the second of two nodes.',
    takes: 'tens of minutes',
    needs: ['postgresql'],
    program: 'scripts/test-nodes-acceptance.mjs',
  },
  {
    name: 'cells-acceptance',
    does: 'The acceptance checks beside a clone, against the cell without the user.',
    takes: 'tens of minutes',
    needs: ['postgresql'],
    program: 'scripts/test-nodes-acceptance.mjs',
    args: ['--cells'],
  },
]

/**
 * The command of a suite. Its switch is always set; its other variables are defaults.
 *
 * @param {import('./suites.mjs').Suite} suite
 * @param {'whole' | 'short'} form
 * @param {Readonly<Record<string, string | undefined>>} environment of the caller
 * @returns {import('./suites.mjs').SuiteCommand}
 */
export function commandOf(suite, form, environment) {
  const {
    program,
    on,
    files = [],
    args = [],
    env = {},
  } = form === 'short' ? { ...suite, ...suite.short } : suite
  if (program !== undefined) return { env: {}, script: program, args }
  const needs = [...(suite.needs ?? []), ...needsByEnvironment(suite, environment)]
  const defaults = Object.entries(env).map(([name, value]) => [name, environment[name] || value])
  const mode = needs.length === 0 ? ['--test'] : ['--test-with', needs.join(',')]
  return {
    env: { ...(on === undefined ? {} : { [on]: '1' }), ...Object.fromEntries(defaults) },
    script: 'scripts/run.mjs',
    args: [...mode, ...files, ...args],
  }
}

/**
 * @param {import('./suites.mjs').Suite} suite
 * @param {Readonly<Record<string, string | undefined>>} environment
 */
function needsByEnvironment(suite, environment) {
  return Object.entries(suite.needsBy ?? {}).flatMap(
    ([variable, byValue]) => byValue[environment[variable] ?? ''] ?? [],
  )
}
