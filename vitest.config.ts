import { defineConfig } from 'vitest/config'

/**
 * Projects, one after the other, in pairs of files on a machine of two cores. `unit` files compute,
 * or talk to at most a few nodes of their own; `node-http` runs those of HTTP once more, by the
 * adapter that serves where uWebSockets.js has no native build; `worlds` are simulated ones. `stacks` start whole stacks of
 * processes, load them, kill them, and wait for them, so that three of them keep two cores busy.
 * None may lean on having the machine to itself. Nothing is ever retried: a test that passes the
 * second time has found something.
 */
const STACKS = [
  'test/custody/**',
  'test/contracts/**',
  'test/console/**',
  'test/defi/**',
  'test/drains/**',
  'test/allowances/**',
  'test/devnet/**',
  'test/e2e/**',
  'test/faults/**',
  'test/live/**',
]

/** What meets the adapter; the other files of HTTP do not. */
const HTTP_BY_ADAPTER = [
  'abandoned-bodies',
  'bad-input',
  'behind-a-proxy',
  'console-pages',
  'connections',
  'content-encoding',
  'event-stream',
  'malformed',
  'metrics',
  'requests',
  'smuggling',
  'waiting-room',
].map((name) => `test/http/${name}.test.ts`)

/**
 * Runs of their own, since they need what not every machine has: SoftHSM2 (`npm run test:pkcs11`),
 * Chromium (`npm run test:passkey`, `npm run test:pages`, `npm run test:console`, `npm run test:console:cold`), systemd
 * (`npm run test:systemd`), promtool
 * (`npm run test:alerts`), Postgres (`npm run test:journal`, `npm run test:nodes`), Restate's server
 * (`npm run test:journal:restate` fetches it), both (`npm run test:cluster:faults`,
 * `npm run test:cluster:takeovers`), Node 22
 * (`npm run test:mcp:conformance` fetches it), versions of Node
 * (`npm run test:runtimes`), the registry to install from (`npm run test:package`), or minutes
 * (`npm run test:restore`).
 */
const STACKS_ON_REQUEST = {
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
}
const isWanted = (name: string) => process.env[name] === '1'
/** Pages at length: `npm run test:console:short` leaves them to `npm run test:console`. */
const LONG_CONSOLE = isWanted('CONSOLE_SHORT') ? ['test/console-browser/records.test.ts'] : []
const ON_REQUEST = [
  ...(isWanted('SYSTEMD') ? [] : ['test/systemd/analyze.test.ts']),
  ...(isWanted('ALERTS') ? [] : ['test/observability/promtool.test.ts']),
  ...(isWanted('MCP_CONFORMANCE') ? [] : ['test/mcp/conformance.test.ts']),
]

/**
 * Files that one worker runs one after another share what packages they import, which takes longer
 * to load than most files take to run. Modules of our own, tests too, are evaluated anew for each.
 */
const isolate = false

/** Generous: other work may share the cores. A test that waits for longer hangs. */
const TEST_TIMEOUT_MS = 60_000
const STACK_TEST_TIMEOUT_MS = 180_000
/** A stack that is due to start in the last minutes of a UTC day waits for the next. */
const STACK_HOOK_TIMEOUT_MS = 480_000
/** What is polled for comes at once or, with busy cores, seconds later. */
const expect = { poll: { timeout: 20_000 } }
/** Messages say what was found: of a run in CI they are all there is, and `[ Array(1) ]` says nothing. */
const chaiConfig = { truncateThreshold: 0 }

/** Whose modules are replaced by others: where a worker has run many files before, they would not all be. */
const WORLDS = ['simulation', 'cluster'].map((name) => `test/simulation/${name}.test.ts`)

export default defineConfig({
  test: {
    retry: 0,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...STACKS, ...ON_REQUEST, ...Object.values(STACKS_ON_REQUEST), ...WORLDS],
          testTimeout: TEST_TIMEOUT_MS,
          hookTimeout: TEST_TIMEOUT_MS,
          isolate,
          expect,
          chaiConfig,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'worlds',
          include: WORLDS,
          setupFiles: ['test/simulation/stand-ins.ts'],
          testTimeout: TEST_TIMEOUT_MS,
          isolate: true,
          expect,
          chaiConfig,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'node-http',
          include: HTTP_BY_ADAPTER,
          provide: { httpAdapter: 'node' },
          testTimeout: TEST_TIMEOUT_MS,
          hookTimeout: TEST_TIMEOUT_MS,
          isolate,
          expect,
          chaiConfig,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'stacks',
          include: [
            ...STACKS,
            ...Object.entries(STACKS_ON_REQUEST).flatMap(([name, folder]) =>
              isWanted(name) ? [folder] : [],
            ),
          ].map((folder) => `${folder}/*.test.ts`),
          exclude: LONG_CONSOLE,
          testTimeout: STACK_TEST_TIMEOUT_MS,
          hookTimeout: STACK_HOOK_TIMEOUT_MS,
          isolate,
          expect,
          chaiConfig,
          maxWorkers: 3,
          globalSetup: ['test/support/reap-services.ts'],
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
