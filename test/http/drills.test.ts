import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { httpClient } from '../support/http-client.js'
import { type Harness, startHarness, TRADE_SECRET } from './harness.js'

/** Faults that callers ask for are no part of a live service. */

const ENTRIES = ['src/main.ts', 'actors/worker.ts']
const ASKED_FOR = /^src\/service\/drills|\/drills\/|stale-prices/

/** A service whose composition was given nothing that serves faults, as a live one's is. */
let live: Harness

beforeAll(async () => {
  live = await startHarness()
})
afterAll(() => live.server.close())

const header = { 'x-api-key': TRADE_SECRET, 'countersign-fault': 'cosigner-away' }
const body = { chain_id: 8453, to: '0x000000000000000000000000000000000000dEaD', value: '1' }

test('a live service refuses a write that asks for a fault, and says why', async () => {
  const { status, json, text } = await httpClient(live.baseUrl, header).post('/api/tx/send', body)
  expect(status).toBe(400)
  expect(json.error?.code).toBe('INVALID_REQUEST')
  expect(text).toContain('sk_test_')
})

test('a live service answers reads and plain writes as without the header', async () => {
  expect((await httpClient(live.baseUrl, header).get('/api/limits')).status).toBe(200)
  const plain = httpClient(live.baseUrl, { 'x-api-key': TRADE_SECRET })
  expect((await plain.post('/api/tx/send', body)).status).toBe(200)
})

test('nothing that makes faults is among what a live service loads', () => {
  for (const entry of ENTRIES) {
    expect([...loadedBy(entry)].filter((path) => ASKED_FOR.test(path))).toEqual([])
    const text = readFileSync(entry, 'utf8')
    const [importing, ...others] = text.match(/await import\(/g) ?? []
    expect([importing, others]).toEqual(['await import(', []])
    expect(text).toMatch(/environment === 'test'\s*\?[^?]*await import\('[^']*drill[^']*'\)/)
  }
})

/** All files that are loaded with it. */
function loadedBy(entry: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(entry)) return seen
  seen.add(entry)
  const imports = /^(?:import|export)\s(?!type\b)[^'"]*?['"](\.[^'"]+)\.js['"]/gms
  for (const [, path = ''] of readFileSync(entry, 'utf8').matchAll(imports)) {
    const file = `${join(dirname(entry), path)}.ts`
    loadedBy(file, seen)
  }
  return seen
}
