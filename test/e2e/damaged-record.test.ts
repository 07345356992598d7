import {
  closeSync,
  cpSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChild } from '../../bench/child-process.js'
import { placesOfRecords, type RecordPlace } from '../actors/lmdb-pages.js'
import { type IssuedKey, issueKey, type Stack, startStack } from './stack.js'

const BASE = 8453
const DEAD = '0x000000000000000000000000000000000000dEaD'
const HAPPENS = { timeout: 90_000, interval: 100 }

let stack: Stack
let healthy: IssuedKey
let hurt: IssuedKey
let hurtWallet: string

function send({ api }: IssuedKey) {
  return api.post('/api/tx/send', { chain_id: BASE, to: DEAD, value: '1000', data: '0x' })
}

beforeAll(async () => {
  stack = await startStack()
  healthy = await issueKey(stack)
  const { json } = await stack.owner.post('/wallets', { name: 'hurt' })
  hurtWallet = String(json.sub_wallet_id)
  hurt = await issueKey(stack, { subWalletId: hurtWallet })
})

afterAll(async () => {
  await stack?.service.stop()
})

const SPACE = '33-sub-wallet-marks'
const storeOf = (home: string) => join(home, 'service', 'store', 'data.mdb')

/** Of the hurt wallet. */
function recordIn(file: Buffer): RecordPlace | undefined {
  const isIt = ({ space, keyAt, keyBytes }: RecordPlace) =>
    space === SPACE && file.toString('latin1', keyAt, keyAt + keyBytes).startsWith(hurtWallet)
  return placesOfRecords(file).find(isIt)
}

/** Flips one bit in the middle of a record's value, on the disk. */
function flipIn(path: string): void {
  const file = readFileSync(path)
  const place = recordIn(file)
  if (place === undefined) throw new Error(`${hurtWallet} is not in ${path}`)
  const at = place.valueAt + (place.valueBytes >> 1)
  const handle = openSync(path, 'r+')
  writeSync(handle, Buffer.of((file[at] ?? 0) ^ 4), 0, 1, at)
  closeSync(handle)
}

test('a wallet whose record is damaged is refused in so many words, and the others go on', async () => {
  const { service } = stack
  expect((await hurt.api.get('/api/limits')).status).toBe(200)
  const stores = service.nodes().map(({ home }) => storeOf(home))
  // A node that follows the owner has it a moment later.
  for (const store of stores) {
    await expect.poll(() => recordIn(readFileSync(store)), HAPPENS).toBeDefined()
  }
  // What is flipped is not to be written again meanwhile, nor read before.
  await service.restartNodes(() => {
    for (const store of stores) flipIn(store)
  })
  await expect.poll(async () => (await send(healthy)).status, HAPPENS).toBe(200)

  const refused = { code: 'RECORD_DAMAGED', details: { space: 'subWalletMarks' } }
  for (const reply of [await send(hurt), await hurt.api.get('/api/limits')]) {
    expect(reply.status).toBe(503)
    expect(reply.json.error).toMatchObject(refused)
    expect(reply.text).not.toContain(hurtWallet)
  }
  expect((await healthy.api.get('/api/limits')).status).toBe(200)
  expect((await send(healthy)).status).toBe(200)
})

test('a store that was cut off is not started with, and the error names it', async () => {
  const copy = mkdtempSync(join(tmpdir(), 'cs-cut-'))
  try {
    const { home } = stack.service
    cpSync(home, copy, { recursive: true, filter: (path) => !lstatSync(path).isSocket() })
    truncateSync(storeOf(copy), 40_000)
    const starting = startChild('dist/src/main.js', { COUNTERSIGN_HOME: copy, PORT: '0' })
    await expect(starting).rejects.toThrow(
      /main\.js ended with 1: [\s\S]*service\/store\/data\.mdb is truncated/,
    )
  } finally {
    rmSync(copy, { recursive: true })
  }
})
