import { defineConfig } from 'vitest/config'

/**
 * Two projects, one after the other, each in pairs of files on a machine of two cores. `unit` files
 * compute, or talk to at most a few nodes of their own. `stacks` start whole stacks of processes,
 * load them, kill them, and wait for them. None may lean on having the machine to itself. Nothing
 * is ever retried: a test that passes the second time has found something.
 */
const STACKS = [
  'test/custody/**',
  'test/contracts/**',
  'test/console/**',
  'test/defi/**',
  'test/allowances/**',
  'test/devnet/**',
  'test/e2e/**',
  'test/faults/**',
]

/**
 * Runs of their own, since they need what not every machine has: Chromium (`npm run test:passkey`),
 * systemd (`npm run test:systemd`), Node 22 (`npm run test:mcp:conformance` fetches it).
 */
const PASSKEY = 'test/passkey/**'
const isWanted = (name: string) => process.env[name] === '1'
const ON_REQUEST = [
  ...(isWanted('SYSTEMD') ? [] : ['test/systemd/analyze.test.ts']),
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
const STACK_HOOK_TIMEOUT_MS = 240_000

export default defineConfig({
  test: {
    retry: 0,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...STACKS, ...ON_REQUEST, PASSKEY],
          testTimeout: TEST_TIMEOUT_MS,
          hookTimeout: TEST_TIMEOUT_MS,
          isolate,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'stacks',
          include: [...STACKS, ...(isWanted('PASSKEY') ? [PASSKEY] : [])].map(
            (folder) => `${folder}/*.test.ts`,
          ),
          testTimeout: STACK_TEST_TIMEOUT_MS,
          hookTimeout: STACK_HOOK_TIMEOUT_MS,
          isolate,
          maxWorkers: 2,
          globalSetup: ['test/support/reap-services.ts'],
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
