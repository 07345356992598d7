import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../support/ports.js'
import { type IssuedKey, issueKey, type Stack, startStack } from './stack.js'

const SHIFTED_CLOCK = fileURLToPath(new URL('../support/shifted-clock.mjs', import.meta.url))
const YEAR_MS = 365 * 86_400_000
const BASE = 8453
const DEAD = '0x000000000000000000000000000000000000dEaD'
const SETTLES = { timeout: 60_000, interval: 100 }

const directory = mkdtempSync(join(tmpdir(), 'cs-clock-'))
const shiftFile = join(directory, 'shift')
let stack: Stack
let metricsPort: number
let key: IssuedKey

/** Sets the machine's clock of the service wrong by so much. */
function setShift(ms: number): void {
  writeFileSync(`${shiftFile}.new`, String(ms))
  renameSync(`${shiftFile}.new`, shiftFile)
}

async function send(value: string) {
  return key.api.post('/api/tx/send', { chain_id: BASE, to: DEAD, value, data: '0x' })
}

/** Of the parts, the clock's. */
async function clockPart() {
  // By a wrong clock no console token holds, and so the operator's own port is asked.
  const answer = await fetch(`http://127.0.0.1:${metricsPort}/readyz`)
  const { parts } = (await answer.json()) as {
    parts: { clock: { status: string; reason?: string } }
  }
  return parts.clock
}

beforeAll(async () => {
  setShift(0)
  metricsPort = await freePort()
  stack = await startStack({
    METRICS_PORT: String(metricsPort),
    NODE_OPTIONS: `--import ${SHIFTED_CLOCK}`,
    SHIFTED_CLOCK_FILE: shiftFile,
  })
  key = await issueKey(stack)
})

afterAll(async () => {
  await stack?.service.stop()
  rmSync(directory, { recursive: true, force: true })
})

test('a clock that jumps a year ahead stops writes, moves no window, and heals by itself', async () => {
  const before = await key.api.get('/api/limits')
  expect((await send('1000')).status).toBe(200)
  const spent = await key.api.get('/api/limits')
  expect(spent.json.daily_used_usd).not.toBe(before.json.daily_used_usd)

  for (const shift of [YEAR_MS, -YEAR_MS]) {
    setShift(shift)
    await expect.poll(async () => (await clockPart()).status, SETTLES).toBe('down')
    expect((await clockPart()).reason).toContain(shift > 0 ? 'ahead' : 'behind')
    const refused = await send('1001')
    expect(refused.status).toBe(503)
    expect(refused.json.error).toMatchObject({
      code: 'WRITES_STOPPED',
      details: { reason: 'clock' },
    })
    const meanwhile = await key.api.get('/api/limits')
    expect(meanwhile.json.daily_resets_at).toBe(spent.json.daily_resets_at)
    expect(meanwhile.json.daily_used_usd).not.toBe('0.00')
    setShift(0)
    await expect.poll(async () => (await clockPart()).status, SETTLES).toBe('up')
    // Each process reads its clock again in its own time: a send needs all three to be right.
    await expect.poll(async () => (await send('1002')).status, SETTLES).toBe(200)
    expect((await key.api.get('/api/limits')).json.daily_resets_at).toBe(spent.json.daily_resets_at)
  }
})
