import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TRADE_SECRET } from '../http/harness.js'
import { mountFixtures } from './conformance-fixtures.js'
import { type McpHarness, startMcpHarness } from './harness.js'
import { type KeyProxy, startKeyProxy } from './key-proxy.js'

/**
 * The protocol's own conformance suite and the inspector's strict checks, against the endpoint with
 * the suite's fixtures mounted. `npm run test:long -- mcp-conformance`: needs the npm registry, and Node 22,
 * which npx brings.
 *
 * Only scenarios of what the endpoint offers are run: tools. It has neither prompts nor resources (for
 * the runs, empty lists of them), and asks nothing of its callers.
 */
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12'
const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0'
const KEY_HEADER = `X-Api-Key: ${TRADE_SECRET}`
const RUN_TIMEOUT_MS = 180_000

const TOOL_SCENARIOS = [
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
]
const SCENARIOS: readonly (readonly [version: string, scenario: string])[] = [
  ...['server-stateless', 'caching', ...TOOL_SCENARIOS].map(
    (name) => ['2026-07-28', name] as const,
  ),
  ...['server-initialize', 'ping', ...TOOL_SCENARIOS].map((name) => ['2025-11-25', name] as const),
]

describe('conformance', () => {
  let fixtures: McpHarness
  let plain: McpHarness
  let fixtureProxy: KeyProxy
  let work: string

  beforeAll(async () => {
    fixtures = await startMcpHarness({ extend: mountFixtures, path: 'sdk-only' })
    plain = await startMcpHarness()
    fixtureProxy = await startKeyProxy(fixtures.mcpUrl)
    work = await mkdtemp(join(tmpdir(), 'mcp-conformance-'))
  })
  afterAll(async () => {
    await fixtureProxy.close()
    await fixtures.server.close()
    await plain.server.close()
    await rm(work, { recursive: true })
  })

  it.each(SCENARIOS)(
    '%s %s',
    async (version, scenario) => {
      const args = ['server', '--url', fixtureProxy.url, '--scenario', scenario]
      const npx = ['-y', '-p', 'node@22', '-p', SUITE, '--', 'conformance', ...args]
      const { code, output } = await run([...npx, '--spec-version', version], work)
      expect(code, output).toBe(0)
    },
    RUN_TIMEOUT_MS,
  )

  it.each([
    ['tools/list', ['--strict']],
    ['tools/call', ['--tool-name', 'get_limits']],
  ])(
    'the inspector finds nothing in %s',
    async (method, more) => {
      const npx = ['-y', '-p', 'node@22', '-p', INSPECTOR, '--', 'mcp-inspector', '--cli']
      const target = [plain.mcpUrl.href, '--transport', 'http', '--method', method, ...more]
      const { code, output } = await run([...npx, ...target, '--header', KEY_HEADER], work)
      expect(code, output).toBe(0)
      expect(output).toContain(method === 'tools/list' ? 'send_transaction' : 'daily_limit_usd')
    },
    RUN_TIMEOUT_MS,
  )
})

interface Ran {
  readonly code: number | null
  readonly output: string
}

function run(args: readonly string[], cwd: string): Promise<Ran> {
  return new Promise((resolve) => {
    let output = ''
    const child = spawn('npx', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    const timer = setTimeout(() => child.kill('SIGKILL'), RUN_TIMEOUT_MS)
    const collect = (chunk: Buffer) => {
      output += chunk.toString()
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, output })
    })
  })
}
