import { describe, expect, test } from 'vitest'
import type { TransactionView } from '../../src/api/transaction.js'
import { type Found, judge, type Landed, type Told } from './audit.js'
import type { Asked, Purse, Try } from './callers.js'
import type { LoggedEvent } from './followers.js'

const WALLET = `0x${'aa'.repeat(20)}`
const VALUE = 10n ** 13n
/** Of one send: its value and its gas, rounded up. */
const EACH_MICROS = 30_063n
const CAP_MICROS = 1_000_000n

/** Three sends of one wallet, of which each went as it should. */
function sound(): Found {
  const purse = { address: WALLET, subWalletId: 'w', capMicros: CAP_MICROS } as Purse
  const ids = ['tx_0', 'tx_1', 'tx_2']
  const recipient = (index: number) => `0x${String(index).padStart(40, '0')}`
  const told: Try = { kind: 'acknowledged', said: '', startedMs: 0, endedMs: 1 }
  const asked = ids.map((id, index): Asked => {
    const tries = [{ ...told, said: id }]
    return { purse, to: recipient(index), value: VALUE, idempotencyKey: `key ${index}`, tries }
  })
  const landed = ids.map(
    (id, nonce): Landed => ({
      ...{ hash: `hash of ${id}`, from: WALLET, to: recipient(nonce), nonce, value: VALUE },
    }),
  )
  const listed = ids.map((id) => {
    const named = { tx_id: id, tx_hash: `hash of ${id}`, from: WALLET, status: 'confirmed' }
    return { ...named, spend_usd: '0.030063' } as TransactionView
  })
  const log = ids.flatMap((id, index) =>
    ['broadcast', 'confirmed'].map(
      (moment, at): LoggedEvent => ({
        ...{ event_id: `${moment} ${id}`, seq: 2 * index + at + 1, type: `transaction.${moment}` },
        data: { tx_id: id },
      }),
    ),
  )
  const limits = new Map([[purse, { usedMicros: 3n * EACH_MICROS, reservedMicros: 0n }]])
  const heard: Told = { log, streamed: log, hooked: log.map(({ event_id: id }) => id) }
  return { asked, purses: [purse], listed, landed, limits, told: [heard] }
}

const without = <T>(items: readonly T[], at: number) => items.filter((_, index) => index !== at)
const changed = <T>(items: readonly T[], at: number, change: Partial<T>) =>
  items.map((item, index) => (index === at ? { ...item, ...change } : item))
const extraTry = (one: Asked, kind: Try['kind'], said: string): Asked => ({
  ...one,
  tries: [...one.tries, { kind, said, startedMs: 1, endedMs: 2 }],
})

const PLANTED: readonly (readonly [string, (found: Found) => Partial<Found>, RegExp])[] = [
  ['a send that is not listed', ({ listed }) => ({ listed: without(listed, 1) }), /lost/],
  ['a send that never landed', ({ landed }) => ({ landed: without(landed, 2) }), /never landed/],
  ['a gap of nonces', ({ landed }) => ({ landed: without(landed, 1) }), /gap at nonce 1/],
  [
    'a send that landed twice',
    ({ landed }) => {
      const [first] = landed
      return { landed: first === undefined ? [] : [...landed, { ...first, hash: 'b', nonce: 3 }] }
    },
    /doubled/,
  ],
  [
    'two calls by one nonce',
    ({ landed }) => ({ landed: changed(landed, 2, { nonce: 1 }) }),
    /nonce 1 for 2 calls/,
  ],
  [
    'two ids by one key',
    ({ asked }) => ({
      asked: asked.map((one, at) => (at === 0 ? extraTry(one, 'acknowledged', 'tx_9') : one)),
    }),
    /several ids/,
  ],
  [
    'a refusal of what was carried out',
    ({ asked }) => ({
      asked: asked.map((one, at) => (at === 0 ? extraTry(one, 'refused', 'LIMIT_EXCEEDED') : one)),
    }),
    /refused and landed/,
  ],
  [
    'a send that is of nobody',
    ({ asked }) => ({ asked: without(asked, 0) }),
    /asked for by nobody/,
  ],
  [
    'another amount',
    ({ landed }) => ({ landed: changed(landed, 0, { value: VALUE * 2n }) }),
    /another amount/,
  ],
  [
    'a cap that was passed',
    ({ landed }) => ({ landed: changed(landed, 0, { value: VALUE * 100n }) }),
    /of 1000000/,
  ],
  [
    'spend that is still held',
    ({ limits }) => ({
      limits: new Map([...limits].map(([key, it]) => [key, { ...it, reservedMicros: 1n }])),
    }),
    /still held/,
  ],
  [
    'spend that is not counted',
    ({ limits }) => ({
      limits: new Map([...limits].map(([key, it]) => [key, { ...it, usedMicros: EACH_MICROS }])),
    }),
    /used/,
  ],
  ['a gap in the log', heard(({ log }) => ({ log: without(log, 1) })), /log has 3 in place 2/],
  ['a gap in the stream', heard(({ log }) => ({ streamed: without(log, 1) })), /stream had 5 of 6/],
  [
    'a webhook out of order',
    heard(({ hooked }) => ({ hooked: hooked.toReversed() })),
    /webhook had 5 after 6/,
  ],
  [
    'a webhook that never came',
    heard(({ hooked }) => ({ hooked: without(hooked, 0) })),
    /never had 1/,
  ],
  [
    'a send that was confirmed twice',
    heard(({ log }) => ({ log: changed(log, 3, { data: { tx_id: 'tx_0' } }) })),
    /tx_0 has 2 events transaction.confirmed/,
  ],
  [
    'a send whose end nobody was told of',
    heard(({ log }) => ({ log: without(log, 5) })),
    /tx_2 has 0 events transaction.confirmed/,
  ],
  ['a log that goes back', heard(({ log }) => ({ log: log.toReversed() })), /a log has 5 after 6/],
]

function heard(change: (told: Told) => Partial<Told>): (found: Found) => Partial<Found> {
  return ({ told }) => ({ told: told.map((one) => ({ ...one, ...change(one) })) })
}

describe('the auditor of a cluster', () => {
  test('says nothing of what went as it should, repeated webhooks included', () => {
    const found = sound()
    expect(judge(found)).toEqual([])
    const twice = heard(({ hooked }) => ({ hooked: [...hooked, ...hooked] }))
    expect(judge({ ...found, ...twice(found) })).toEqual([])
  })

  test('says nothing of a send whose bytes were replaced at their nonce', () => {
    const found = sound()
    const before = found.landed.map((it) =>
      it.nonce === 1 ? [{ ...it, hash: 'cheaper' }, it] : [it],
    )
    expect(judge({ ...found, landed: before.flat() })).toEqual([])
  })

  test('says nothing of users whose places are counted together, and sees a gap between them', () => {
    const found = sound()
    const [one] = found.told
    const log = one?.log ?? []
    const part = (seqs: readonly number[]): Told => {
      const own = log.filter(({ seq }) => seqs.includes(seq))
      return { log: own, streamed: own, hooked: own.map(({ event_id: id }) => id) }
    }
    expect(judge({ ...found, told: [part([1, 4, 5]), part([2, 3, 6])] })).toEqual([])
    const gapped = judge({ ...found, told: [part([1, 4, 5]), part([2, 6])] })
    expect(gapped.join('\n')).toMatch(/a log has 4 in place 2/)
  })

  test.each(PLANTED)('sees %s', (_name, plant, sentence) => {
    const found = sound()
    expect(judge({ ...found, ...plant(found) }).join('\n')).toMatch(sentence)
  })
})
