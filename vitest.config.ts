import { defineConfig } from 'vitest/config'
import { ON_REQUEST } from './scripts/suites.mjs'

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

const isWanted = (name: string) => process.env[name] === '1'
const isFolder = (path: string) => path.endsWith('/**')
const onRequest = Object.entries(ON_REQUEST)
/** Only the suites of `npm run test:long` run these. */
const STACKS_ON_REQUEST = onRequest.filter(([, path]) => isFolder(path))
const LEFT_OUT = onRequest.filter(([name, path]) => isFolder(path) || !isWanted(name))
/** Pages at length: the short form of the suite `console` leaves them out. */
const LONG_CONSOLE = isWanted('CONSOLE_SHORT') ? ['test/console-browser/records.test.ts'] : []

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
          exclude: [...STACKS, ...LEFT_OUT.map(([, path]) => path), ...WORLDS],
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
            ...STACKS_ON_REQUEST.flatMap(([name, folder]) => (isWanted(name) ? [folder] : [])),
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
