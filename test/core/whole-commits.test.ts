import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { NewEvent } from '../../src/domain/event.js'
import type { WebhookId } from '../../src/domain/ids.js'
import type { MinedIn, Transaction } from '../../src/domain/transaction.js'
import { applyRows } from '../../src/store/apply-rows.js'
import { packedRecord } from '../../src/store/encodings/sealing.js'
import { NO_EVENTS } from '../../src/store/event-rows.js'
import type { Row } from '../../src/store/rows.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import type { Writer } from '../../src/store/writer.js'
import { openRealStore, type RealStore } from '../actors/real-store.js'
import {
  ADDRESS,
  ATTEMPT,
  apiKey,
  LINEAGE_ID,
  START_MS,
  transaction,
  txIdOf,
  USER_ID,
  WALLET_ID,
  wallet,
} from '../actors/wallet-fixtures.js'

const HEADER = { wallet, lanes: [], spend: [], open: [] }
const MINED: MinedIn = {
  txHash: ATTEMPT.txHash,
  blockNumber: 9,
  blockHash: '0x0a',
  outcome: 'success',
  feeWei: 1n,
}

/** Something that no encoder takes, in place of what the type says. */
function unencodable<T extends object>(value: T, field: keyof T & string): T {
  const refused = () => {
    throw new Error('cannot be encoded')
  }
  return Object.defineProperty({ ...value }, field, { get: refused, enumerable: true })
}

const event = (type: NewEvent['type']): NewEvent => ({
  ...{ eventId: null, userId: USER_ID, type, atMs: START_MS, subWalletId: WALLET_ID },
  ...{ laneKey: null, data: { webhook_id: 'we_1' } },
})
const settled = (n: number): Transaction =>
  transaction(n, { attempts: [ATTEMPT], status: 'confirmed', mined: MINED })

/** Larger than any key that LMDB takes. */
const TOO_LONG = 'k'.repeat(2_000)
const RECORD = { bodyHash: 'body', txId: txIdOf(1), createdAtMs: START_MS }

interface Part {
  readonly put: (writer: Writer) => void
  /** The same, of what cannot be written. */
  readonly break: (writer: Writer) => void
}

/** Everything that one commit may consist of. */
const PARTS: Readonly<Record<string, Part>> = {
  'a sub-wallet': {
    put: (t) => t.addSubWallet(HEADER),
    break: (t) => t.addSubWallet({ ...HEADER, wallet: unencodable(wallet, 'name') }),
  },
  'a header': {
    put: (t) => t.putSubWalletMarks(HEADER),
    break: (t) => t.putSubWalletMarks(unencodable(HEADER, 'open')),
  },
  'a key': {
    put: (t) => t.putApiKey(apiKey()),
    break: (t) => t.putApiKey(unencodable(apiKey(), 'name')),
  },
  'a new transaction': {
    put: (t) => t.addTransaction(transaction(1), null),
    break: (t) => t.addTransaction(unencodable(transaction(1), 'gasLimit'), null),
  },
  'a changed transaction': {
    put: (t) => t.putTransaction(settled(2)),
    break: (t) => t.putTransaction(unencodable(settled(2), 'attempts')),
  },
  'a settlement': {
    put: (t) => t.putTransaction(settled(3)),
    break: (t) => t.putTransaction({ ...settled(3), mined: unencodable(MINED, 'blockNumber') }),
  },
  'an index': {
    put: (t) => t.markOpen(WALLET_ID, txIdOf(1)),
    break: (t) => t.markOpen(WALLET_ID, TOO_LONG as typeof RECORD.txId),
  },
  'an idempotency key': {
    put: (t) => t.putIdempotency(LINEAGE_ID, 'once', RECORD),
    break: (t) => t.putIdempotency(LINEAGE_ID, TOO_LONG, RECORD),
  },
  'a removal': {
    put: (t) => t.deleteIdempotency(LINEAGE_ID, 'twice'),
    break: (t) => t.deleteIdempotency(LINEAGE_ID, TOO_LONG),
  },
  deliveries: {
    put: (t) => t.putDeliveries('we_1' as WebhookId, { cursor: 1 }),
    break: (t) => t.putDeliveries('we_1' as WebhookId, unencodable({ cursor: 1 }, 'cursor')),
  },
  'an allowance mark': {
    put: (t) => t.putAllowanceLedger(ADDRESS, { complete: true }),
    break: (t) => t.putAllowanceLedger(ADDRESS, unencodable({ complete: true }, 'complete')),
  },
  'an event': {
    put: (t) => t.appendEvent(event('webhook.test')),
    break: (t) => t.appendEvent(unencodable(event('webhook.test'), 'data')),
  },
}

describe('a batch in which one write fails', () => {
  let store: RealStore
  beforeEach(async () => {
    store = await openRealStore()
  })
  afterEach(() => store.close())

  const commit = (fill: (writer: Writer) => void) => {
    const batch = new WriteBatch()
    fill(batch)
    return store.commits.commit(batch)
  }

  /** Every row there is, so that nothing of a batch can hide. */
  function rows(): string[] {
    store.reader.fresh()
    return Object.entries(store.environment.spaces).flatMap(([space, database]) =>
      [...database.getKeys({})].map((key) => `${space} ${JSON.stringify(key)}`),
    )
  }

  test.for(Object.keys(PARTS))('leaves nothing behind, whichever it is: %s', async (broken) => {
    const before = rows()
    const readable = store.sequence.readable(USER_ID)
    const attempt = async () =>
      commit((writer) => {
        for (const [name, part] of Object.entries(PARTS)) {
          if (name === broken) part.break(writer)
          else part.put(writer)
        }
      })
    await expect(attempt()).rejects.toThrow()
    // What LMDB was given is committed before what comes later.
    await store.environment.spaces.meta.put('later', packedRecord(1))
    expect(rows()).toEqual([...before, 'meta "later"'].sort())
    expect(store.sequence.readable(USER_ID)).toBe(readable)

    const stored = await commit((writer) => {
      for (const part of Object.values(PARTS)) part.put(writer)
    })
    expect(stored.map(({ seq }) => seq)).toEqual([readable + 1])
    expect(store.sequence.readable(USER_ID)).toBe(readable + 1)
    store.reader.fresh()
    expect(store.reader.transactions.byId(txIdOf(1))).toEqual(transaction(1))
    expect(store.reader.transactions.byId(txIdOf(2))).toEqual(settled(2))
  })
})

describe('the rows of a batch', () => {
  test('are the whole commit: a store that applies them reads what the first one reads', async () => {
    const [here, elsewhere] = [await openRealStore(), await openRealStore()]
    try {
      const taken: Row[] = []
      const fill = (writer: Writer) => {
        for (const part of Object.values(PARTS)) part.put(writer)
      }
      const batch = new WriteBatch()
      fill(batch)
      const rows = batch.rows.bind(batch)
      batch.rows = (context, placed) => {
        const all = rows(context, placed)
        for (const [space, key, value] of all) {
          taken.push([space, key, value === null ? null : (Buffer.from(value) as typeof value)])
        }
        return all
      }
      await here.commits.commit(batch)
      await applyRows(elsewhere.environment, taken)
      expect(contentsOf(elsewhere)).toEqual(contentsOf(here))
      expect(contentsOf(here).length).toBeGreaterThan(Object.keys(PARTS).length)
      const removal = new WriteBatch()
      removal.deleteIdempotency(LINEAGE_ID, 'once')
      removal.deleteWebhook('we_1' as WebhookId, USER_ID)
      await applyRows(elsewhere.environment, removal.rows(elsewhere.environment, NO_EVENTS))
      const left = contentsOf(elsewhere).map(([space]) => space)
      expect(left).not.toContain('idempotency')
      expect(left).not.toContain('deliveries')
    } finally {
      await here.close()
      await elsewhere.close()
    }
  })
})

function contentsOf({ reader, environment }: RealStore): [string, unknown, unknown][] {
  reader.fresh()
  return Object.entries(environment.spaces).flatMap(([space, database]) =>
    [...database.getRange({})].map(({ key, value }): [string, unknown, unknown] => [
      space,
      key,
      value,
    ]),
  )
}
