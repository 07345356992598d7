import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { operations } from '../../src/api/operations.js'
import { fault } from '../../src/errors/fault.js'
import { TRADE_SECRET } from '../http/harness.js'
import { type McpHarness, startMcpHarness } from '../mcp/harness.js'
import { sampleOutput } from '../mcp/sample-output.js'

/** The examples as programs of their own, compiled, against a front end on a free port. */

const run = promisify(execFile)
const row = operations.find(({ name }) => name === 'send_transaction') ?? operations[0]
const SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`

let harness: McpHarness
beforeAll(async () => {
  await run(process.execPath, ['scripts/build.mjs'])
  let looks = 0
  harness = await startMcpHarness({
    handlers: {
      send_transaction: (context, input) =>
        context.idempotency?.key === 'invoice-2'
          ? { ok: false, fault: fault('ADDRESS_BLOCKED', { list: 'ofac-sdn' }) }
          : {
              ok: true,
              value: { ...sampleOutput(row, input), tx_id: 'tx_1', status: 'broadcast' },
            },
      get_transaction_status: (_context, input) => ({
        ok: true,
        value: {
          ...sampleOutput(row, input),
          status: looks++ % 2 === 0 ? 'broadcast' : 'confirmed',
        },
      }),
    },
  })
}, 120_000)
afterAll(() => harness.server.close())

function example(name: string, env: Record<string, string> = {}) {
  return {
    args: [`dist/scripts/examples/${name}.js`],
    options: {
      env: {
        ...process.env,
        COUNTERSIGN_URL: harness.baseUrl,
        COUNTERSIGN_API_KEY: TRADE_SECRET,
        ...env,
      },
    },
  }
}

it('the agent over REST pays under the number of its invoice and reads refusals', async () => {
  const { args, options } = example('agent-loop')
  const { stdout } = await run(process.execPath, args, options)
  expect(stdout).toMatch(/invoice-1: confirmed/)
  expect(stdout).toMatch(/invoice-2: 0x\w+ is on ofac-sdn/)
  expect(harness.calls.map(({ idempotencyKey }) => idempotencyKey)).toContain('invoice-1')
})

it('the webhook receiver takes each genuine event once', async () => {
  const { args, options } = example('webhook-receiver', { WEBHOOK_SECRET: SECRET, PORT: '0' })
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: string[] = []
  try {
    const port = await firstPort(child, lines)
    const body = JSON.stringify({
      type: 'transaction.confirmed',
      timestamp: 'now',
      data: { tx_id: 'tx_1' },
    })
    const deliver = async (secret: string) => {
      const at = new Date()
      const response = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        body,
        headers: {
          'webhook-id': 'evt_1',
          'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
          'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
        },
      })
      await response.text()
      return response.status
    }
    expect(await deliver(SECRET)).toBe(204)
    expect(await deliver(SECRET)).toBe(204)
    expect(await deliver(`whsec_${Buffer.from('x'.repeat(32)).toString('base64')}`)).toBe(401)
    expect(lines.join('')).toMatch(
      /transaction\.confirmed evt_1 .*\nagain: evt_1\nrefused: no signature/,
    )
  } finally {
    child.kill('SIGKILL')
  }
})

function firstPort(child: ChildProcess, lines: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    child.on('exit', () => reject(new Error('the receiver ended')))
    child.stdout?.on('data', (chunk: Buffer) => {
      lines.push(chunk.toString())
      const port = /listening on (\d+)/.exec(lines.join(''))?.[1]
      if (port !== undefined) resolve(port)
    })
  })
}
