import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ID_PREFIX, type KeyId, type SubWalletId, type UserId } from '../../src/domain/ids.js'
import { isNamed, wantedWords } from '../../src/domain/name-words.js'
import { applyRows } from '../../src/store/apply-rows.js'
import { packedRecord } from '../../src/store/encodings/sealing.js'
import { openEnvironment } from '../../src/store/environment.js'
import { NO_EVENTS } from '../../src/store/event-rows.js'
import { NAMES_INDEXED_SINCE, OPENED_SINCE, SCHEMA_VERSION } from '../../src/store/key-spaces.js'
import { createReader, type Reader } from '../../src/store/reader.js'
import type { Row } from '../../src/store/rows.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { openRealStore, type RealStore } from './real-store.js'
import { apiKey, USER_ID, wallet } from './wallet-fixtures.js'

const OTHER = 'user_0000000000000000000000000Z' as UserId

const keyIdOf = (n: number) => `${ID_PREFIX.key}${String(n).padStart(26, '0')}` as KeyId
const walletIdOf = (n: number) => `${ID_PREFIX.subWallet}${String(n).padStart(26, '0')}`

function keyOf(n: number, name: string, userId = USER_ID) {
  const secretHash = n.toString(16).padStart(64, '0')
  return apiKey({ keyId: keyIdOf(n), name, userId, secretHash })
}

function walletOf(n: number, name: string) {
  const subWalletId = walletIdOf(n) as SubWalletId
  return { wallet: { ...wallet, subWalletId, name }, lanes: [], spend: [], open: [] }
}

let store: RealStore
beforeEach(async () => {
  store = await openRealStore()
})
afterEach(() => store.close())

function foundIn({ keys }: Reader, text: string, limit = 100): readonly string[] {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page = keys.named(USER_ID, text, { limit, cursor })
    expect(page.items.length).toBeLessThanOrEqual(limit)
    for (const { keyId } of page.items) ids.push(keyId)
    cursor = page.nextCursor
  } while (cursor !== null)
  return ids
}

const found = (text: string, limit?: number) => foundIn(store.reader.fresh(), text, limit)

/** As they lie in the store: who, how a word begins, which key. */
function rowsOfKeys(): readonly string[] {
  store.reader.fresh()
  return [...store.environment.spaces.keysByName.getKeys({})].map((key) => JSON.stringify(key))
}

describe('a search by name', () => {
  const WORDS = ['pay', 'payroll', 'Bot', 'bots', 'Ünder', 'under', '7', '77', 'a', '🤖']
  const names = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 })
  const text = fc.array(fc.constantFrom(...WORDS, 'p', 'B', 'none'), { minLength: 1, maxLength: 3 })

  test('finds what going through everything finds, newest first, in pages of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(names, { maxLength: 40 }),
        fc.array(text, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 5 }),
        async (named, texts, limit) => {
          const fresh = await openRealStore()
          try {
            const keys = named.map((words, n) => keyOf(n, words.join('-')))
            await fresh.write((writer) => {
              for (const key of keys) writer.putApiKey(key)
            })
            for (const words of texts) {
              const wanted = wantedWords(words.join(' '))
              const all = keys.filter(({ name }) => isNamed(name, wanted))
              const ids = all.map(({ keyId }) => keyId).reverse()
              expect(foundIn(fresh.reader, words.join(' '), limit)).toEqual(ids)
              expect(foundIn(fresh.reader, words.join(' '))).toEqual(ids)
            }
          } finally {
            await fresh.close()
          }
        },
      ),
      { numRuns: 40 },
    )
  })

  test('goes by how words begin, in any case, order and form, and finds nothing for no word', async () => {
    const texts = ['Payroll Bot (EU)', 'PAYROLL-bot_us', 'repay', 'ﬁnance', '🤖', '***']
    await store.write((writer) => {
      for (const [n, name] of texts.entries()) writer.putApiKey(keyOf(n, name))
    })
    expect(found('pay')).toEqual([keyIdOf(1), keyIdOf(0)])
    expect(found('BOT payroll')).toEqual([keyIdOf(1), keyIdOf(0)])
    expect(found('bot e')).toEqual([keyIdOf(0)])
    expect(found('bot bot')).toEqual([keyIdOf(1), keyIdOf(0)])
    expect(found('roll')).toEqual([])
    expect(found('fin')).toEqual([keyIdOf(3)])
    expect(found('🤖')).toEqual([keyIdOf(4)])
    expect(found(' - ')).toEqual([])
    expect(found('***')).toEqual([])
  })

  test('tells words apart that begin alike for longer than the index has of them', async () => {
    const long = 'x'.repeat(40)
    await store.write((writer) => {
      writer.putApiKey(keyOf(1, `${long}a`))
      writer.putApiKey(keyOf(2, `${long}b`))
    })
    expect(found(long)).toEqual([keyIdOf(2), keyIdOf(1)])
    expect(found(`${long}A`)).toEqual([keyIdOf(1)])
  })

  test('finds nobody else’s', async () => {
    await store.write((writer) => {
      writer.putApiKey(keyOf(1, 'treasurer'))
      writer.putApiKey(keyOf(2, 'treasurer', OTHER))
    })
    expect(found('treasurer')).toEqual([keyIdOf(1)])
  })

  test('finds wallets in the same way', async () => {
    await store.write((writer) => {
      for (const [n, name] of ['Ops', 'ops two', 'other'].entries()) {
        writer.addSubWallet(walletOf(n, name))
      }
    })
    const { wallets } = store.reader.fresh()
    const first = wallets.named(USER_ID, 'ops', { limit: 1, cursor: null })
    expect(first.items.map((it) => it.wallet.name)).toEqual(['ops two'])
    const rest = wallets.named(USER_ID, 'ops', { limit: 1, cursor: first.nextCursor })
    expect(rest.items.map((it) => it.wallet.name)).toEqual(['Ops'])
    expect(rest.nextCursor).toBeNull()
  })

  test('of words that thousands have, and none together, goes on by its cursor and ends', async () => {
    await store.write((writer) => {
      for (let n = 0; n < 6_000; n++) writer.putApiKey(keyOf(n, n % 2 === 0 ? 'even' : 'odd'))
      writer.putApiKey(keyOf(6_000, 'even odd'))
    })
    const page = store.reader.keys.named(USER_ID, 'even odd', { limit: 100, cursor: null })
    expect(page.items.map(({ keyId }) => keyId)).toEqual([keyIdOf(6_000)])
    expect(page.nextCursor).not.toBeNull()
    expect(found('even odd')).toEqual([keyIdOf(6_000)])
  })
})

describe('the index of names', () => {
  test('has the rows of the names that keys have, however often they change', async () => {
    const change = fc.tuple(fc.nat(5), fc.constantFrom('pay', 'pay roll', 'bot', 'Bot two', '-'))
    const commits = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(commits, async (changes) => {
        const [lived, anew] = [await openRealStore(), await openRealStore()]
        try {
          const names = new Map<number, string>()
          // Not one after another: those that come while one is written are one transaction.
          await Promise.all(
            changes.map((ofOne) =>
              lived.write((writer) => {
                for (const [n, name] of ofOne) {
                  names.set(n, name)
                  writer.putApiKey(keyOf(n, name))
                }
              }),
            ),
          )
          await anew.write((writer) => {
            for (const [n, name] of names) writer.putApiKey(keyOf(n, name))
          })
          const rowsIn = ({ environment }: RealStore) => [
            ...environment.spaces.keysByName.getKeys({}),
          ]
          expect(rowsIn(lived)).toEqual(rowsIn(anew))
        } finally {
          await lived.close()
          await anew.close()
        }
      }),
      { numRuns: 30 },
    )
  })

  test('leaves the rows alone where something else of a key changes', async () => {
    await store.write((writer) => writer.putApiKey(keyOf(1, 'pay')))
    const before = rowsOfKeys()
    await store.write((writer) =>
      writer.putApiKey({ ...keyOf(1, 'pay'), revokedAtMs: 1, dailyLimitMicros: 5n }),
    )
    expect(rowsOfKeys()).toEqual(before)
    expect(before).toHaveLength(3)
  })

  test('is in the commit of the rename: before it the old name is found, and after it the new one', async () => {
    await store.write((writer) => writer.putApiKey(keyOf(1, 'before')))
    const batch = new WriteBatch()
    batch.putApiKey(keyOf(1, 'after'))
    const done = store.commits.commit(batch)
    expect([found('before'), found('after')]).toEqual([[keyIdOf(1)], []])
    await done
    expect([found('before'), found('after')]).toEqual([[], [keyIdOf(1)]])
  })

  test('is made of rows that a build without it has put into a journal', async () => {
    const batch = new WriteBatch()
    batch.putApiKey(keyOf(1, 'from the journal'))
    const rows: readonly Row[] = batch.rows(store.environment, NO_EVENTS)
    expect(rows.map(([space]) => space)).not.toContain('keysByName')
    await applyRows(store.environment, rows)
    expect(found('journal')).toEqual([keyIdOf(1)])
  })

  test('does not stop a key from being written over whose record is damaged', async () => {
    await store.write((writer) => writer.putApiKey(keyOf(1, 'before')))
    const { root } = store.environment
    const raw = root.openDB<Buffer, string>({ name: '04-api-keys', encoding: 'binary' })
    const bytes = Buffer.from(raw.get(keyIdOf(1)) ?? [])
    bytes[20] = (bytes[20] ?? 0) ^ 1
    await raw.put(keyIdOf(1), bytes)
    await store.write((writer) => writer.putApiKey(keyOf(1, 'after')))
    expect([found('before'), found('after')]).toEqual([[], [keyIdOf(1)]])
  })

  test.each([OPENED_SINCE, NAMES_INDEXED_SINCE - 1])(
    'is made when a store of schema %i is opened, and not again',
    async (version) => {
      await store.write((writer) => {
        for (let n = 0; n < 12_000; n++) writer.putApiKey(keyOf(n, `agent ${n}`))
        writer.addSubWallet(walletOf(1, 'the old wallet'))
      })
      const { root, spaces } = store.environment
      // As a build without it left the store.
      root.transactionSync(() => {
        for (const space of [spaces.keysByName, spaces.walletsByName]) {
          for (const key of [...space.getKeys({})]) space.removeSync(key)
        }
        spaces.meta.putSync('schema_version', packedRecord(version))
      })
      expect(found('agent')).toEqual([])
      const opened = openEnvironment(store.directory)
      expect(opened.spaces.meta.get('schema_version')).toBe(SCHEMA_VERSION)
      const reader = createReader(opened)
      expect(foundIn(reader, 'agent 11999')).toEqual([keyIdOf(11_999)])
      expect(foundIn(reader, 'agent 7')).toHaveLength(1_111)
      const { items } = reader.wallets.named(USER_ID, 'old', { limit: 5, cursor: null })
      expect(items.map((it) => it.wallet.name)).toEqual(['the old wallet'])
      const count = opened.spaces.keysByName.getKeysCount({})
      opened.spaces.keysByName.removeSync([USER_ID, '11999', keyIdOf(11_999)])
      await opened.root.close()
      const again = openEnvironment(store.directory)
      expect(again.spaces.keysByName.getKeysCount({})).toBe(count - 1)
      await again.root.close()
    },
  )
})
