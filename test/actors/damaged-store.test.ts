import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { KeyId, SubWalletId, WebhookId } from '../../src/domain/ids.js'
import { DamagedRecord } from '../../src/store/checked-space.js'
import { type Environment, openEnvironment } from '../../src/store/environment.js'
import { createReader } from '../../src/store/reader.js'
import { seededRandom } from '../faults/random.js'
import { placesOfRecords } from './lmdb-pages.js'
import { openRealStore } from './real-store.js'
import {
  ADDRESS,
  apiKey,
  LINEAGE_ID,
  START_MS,
  transaction,
  txIdOf,
  USER_ID,
  wallet,
} from './wallet-fixtures.js'

const WALLETS = 40
/** Each opens the store again. */
const FLIPS = Number(process.env.DAMAGE_FLIPS ?? 150)
const SEED = 20_260_801

const walletIdOf = (n: number) => `sw_${String(n).padStart(26, '0')}` as SubWalletId
const keyIdOf = (n: number) => `key_${String(n).padStart(26, '0')}` as KeyId
const newTx = (n: number) => ({ ...transaction(n), subWalletId: walletIdOf(n) })

let whole: Buffer
let before: ReadonlyMap<string, string>
let directory: string | null = null

/** Every record of the store by space and key, or why it cannot be read. */
function recordsOf({ spaces }: Environment): Map<string, string> {
  const found = new Map<string, string>()
  for (const [space, records] of Object.entries(spaces)) {
    for (const key of records.getKeys({})) {
      const name = `${space} ${JSON.stringify(key)}`
      try {
        found.set(name, show(records.get(key)))
      } catch (error) {
        found.set(name, String(error))
      }
    }
  }
  return found
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}

async function opened<T>(file: Buffer, use: (environment: Environment) => T): Promise<T> {
  directory = mkdtempSync(join(tmpdir(), 'cs-damaged-'))
  writeFileSync(join(directory, 'data.mdb'), file)
  const environment = openEnvironment(directory)
  try {
    return use(environment)
  } finally {
    await environment.root.close()
  }
}

function flipped(at: number, bit: number): Buffer {
  const file = Buffer.from(whole)
  file[at] = (file[at] ?? 0) ^ (1 << bit)
  return file
}

beforeAll(async () => {
  const store = await openRealStore()
  for (let n = 1; n <= WALLETS; n++) {
    await store.write((writer) => {
      const header = { wallet: { ...wallet, subWalletId: walletIdOf(n) }, lanes: [], spend: [] }
      writer.addSubWallet({ ...header, open: [txIdOf(n)] })
      writer.putApiKey(
        apiKey({
          keyId: keyIdOf(n),
          subWalletId: walletIdOf(n),
          secretHash: `${n}`.padStart(64, '0'),
        }),
      )
      writer.addTransaction(newTx(n), { atMs: START_MS, reservedMicros: 1n, lists: [] })
      writer.appendEvent({
        ...{ eventId: null, userId: USER_ID, type: 'webhook.test', atMs: START_MS },
        ...{ subWalletId: walletIdOf(n), laneKey: null, data: { n } },
      })
      writer.putIdempotency(LINEAGE_ID, `${n}`, {
        ...{ bodyHash: 'body', txId: txIdOf(n), createdAtMs: START_MS },
      })
    })
    await store.write((writer) => writer.putTransaction({ ...newTx(n), updatedAtMs: n }))
  }
  await store.write((writer) => writer.putDeliveries('we_1' as WebhookId, 'x'.repeat(9_000)))
  before = recordsOf(store.environment)
  mkdirSync(join(store.directory, 'copy'))
  const copy = join(store.directory, 'copy', 'data.mdb')
  copyFileSync(join(store.directory, 'data.mdb'), copy)
  whole = readFileSync(copy)
  await store.close()
})

afterEach(() => {
  if (directory !== null) rmSync(directory, { recursive: true, force: true })
  directory = null
})

describe('a store with a flipped bit', () => {
  test(`serves no value that was not put, and names what is damaged (seed ${SEED})`, async () => {
    const random = seededRandom(SEED)
    const places = placesOfRecords(whole).filter(({ space }) => space !== '01-meta')
    expect(places.length).toBeGreaterThan(WALLETS * 8)
    for (let flip = 0; flip < FLIPS; flip++) {
      const { valueAt, valueBytes } = random.pick(places)
      const at = valueAt + random.integer(valueBytes)
      const found = await opened(flipped(at, random.integer(8)), recordsOf)
      const changed = [...found].filter(([name, value]) => before.get(name) !== value)
      expect(found.size).toBe(before.size)
      expect(changed.length, `byte ${at}`).toBe(1)
      const [[name, error] = ['', '']] = changed
      const [space, key] = name.split(' ')
      expect(error).toContain(`data.mdb: the record ${key} of ${space} is damaged`)
      rmSync(directory ?? '', { recursive: true })
    }
  }, 120_000)

  test('in its version or in where its log ends is not opened, or not read', async () => {
    const metas = placesOfRecords(whole).filter(({ space }) => space === '01-meta')
    expect(metas).toHaveLength(2)
    for (const { valueAt, valueBytes } of metas) {
      const bit = flipped(valueAt + valueBytes - 1, 0)
      const start = opened(bit, (environment) => createReader(environment).events.lastSeqs())
      await expect(start).rejects.toThrow(/data\.mdb: the record "\w+(:\d+)?" of meta is damaged/)
      rmSync(directory ?? '', { recursive: true })
    }
  })

  test('in a key does not show the record under another one', async () => {
    for (const { keyAt, keyBytes, space } of placesOfRecords(whole)) {
      if (!['02-sub-wallets', '33-sub-wallet-marks'].includes(space)) continue
      const found = await opened(flipped(keyAt + keyBytes - 2, 0), recordsOf)
      const strange = [...found].filter(([name]) => !before.has(name))
      // Out of its order it may not be found at all.
      for (const [, value] of strange) expect(value ?? 'it is damaged').toContain('is damaged')
      rmSync(directory ?? '', { recursive: true })
    }
  }, 120_000)

  test('in the key of its marks does not let a wallet begin again', async () => {
    const marks = placesOfRecords(whole).find(({ space }) => space === '33-sub-wallet-marks')
    if (marks === undefined) throw new Error('there are no marks')
    await opened(flipped(marks.keyAt + marks.keyBytes - 2, 0), (environment) => {
      const reader = createReader(environment)
      const refused = Array.from({ length: WALLETS }, (_, n) => walletIdOf(n + 1)).filter((id) => {
        try {
          expect(reader.wallets.header(id)?.open).toHaveLength(1)
          return false
        } catch (error) {
          if (!(error instanceof DamagedRecord)) throw error
          expect(error.message).toContain(`the record "${id}" of subWalletMarks is damaged`)
          return true
        }
      })
      expect(refused.length).toBeGreaterThan(0)
    })
  })

  test('passes over one record in a list of all, says so once, and lists the others', async () => {
    const one = placesOfRecords(whole).find(({ space }) => space === '02-sub-wallets')
    if (one === undefined) throw new Error('there are no wallets')
    directory = mkdtempSync(join(tmpdir(), 'cs-damaged-'))
    writeFileSync(join(directory, 'data.mdb'), flipped(one.valueAt + 9, 3))
    const noted: DamagedRecord[] = []
    const environment = openEnvironment(directory, undefined, (damage) => noted.push(damage))
    const reader = createReader(environment)
    expect([...reader.wallets.all()]).toHaveLength(WALLETS - 1)
    expect([...reader.wallets.all()].every(({ address }) => address === ADDRESS)).toBe(true)
    expect(noted.map(({ fault }) => fault)).toMatchObject([
      { code: 'RECORD_DAMAGED', details: { space: 'subWallets' } },
    ])
    expect(() => reader.wallets.ofUser(USER_ID, { limit: WALLETS, cursor: null })).toThrow(
      DamagedRecord,
    )
    await environment.root.close()
  })
})
