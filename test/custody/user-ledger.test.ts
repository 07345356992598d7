import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeApprovalTerm } from '../../src/custody/approvals/approval-term.js'
import type { ApprovalId } from '../../src/domain/ids.js'
import { openLedgerStore } from '../../src/identity-provider/vault/ledger-store.js'
import { relate, underApproval } from '../../src/identity-provider/vault/nonce-ledger.js'
import { oneAtATime } from '../../src/identity-provider/vault/one-at-a-time.js'
import { unflushedRows } from '../../src/identity-provider/vault/unflushed-rows.js'
import { callTerm } from './approval-terms.js'
import { newKeyId, newWalletId, STRANGER } from './harness.js'

const entryOf = (fee: bigint) => ({
  intentId: randomBytes(32),
  bodyHash: randomBytes(32),
  maxFeePerGasWei: fee,
  keyedFeeWei: fee,
  maxPriorityFeePerGasWei: 1n,
  approval: null,
})

describe('what asks for a nonce that is held', () => {
  const held = { ...entryOf(10n), maxPriorityFeePerGasWei: 4n }
  const { intentId } = held
  const [NONE, OTHER] = [Buffer.alloc(32), randomBytes(32)]
  const same = (fee: bigint, tip: bigint) => ({
    ...{ ...held, intentId: randomBytes(32) },
    ...{ maxFeePerGasWei: fee, maxPriorityFeePerGasWei: tip },
  })

  test.each([
    ['the same bytes', same(10n, 4n), NONE, false, 'repeat'],
    ['higher fees', same(11n, 5n), intentId, false, 'fee-bump'],
    ['a higher fee at the same tip', same(11n, 4n), intentId, false, 'fee-bump'],
    ['a higher fee at a lower tip', same(11n, 3n), intentId, false, 'new'],
    ['a higher tip at the same fee', same(10n, 5n), intentId, false, 'new'],
    ['a lower fee', same(9n, 4n), intentId, false, 'new'],
    ['another call', entryOf(11n), intentId, false, 'new'],
    ['a cancel', entryOf(11n), intentId, true, 'cancel'],
  ] as const)('is with %s', (_, candidate, replaces, cancels, relation) => {
    expect(relate(held, candidate, replaces, cancels)).toBe(relation)
  })

  test.each([
    ['names none', NONE],
    ['names another approval', OTHER],
  ])('is told what holds it where it %s', (_, replaces) => {
    for (const cancels of [false, true]) {
      for (const candidate of [same(11n, 5n), entryOf(11n)]) {
        expect(() => relate(held, candidate, replaces, cancels)).toThrow('NONCE_TAKEN')
      }
    }
  })
})

describe('an approval that a replacement names', () => {
  const ofCall = { approvalId: randomBytes(16), maxNativeWei: 7n }
  const held = { ...entryOf(1n), approval: ofCall }
  const unasked = entryOf(1n)
  const other = { approvalId: randomBytes(16), maxNativeWei: 7n }

  test.each([
    ['another’s', held, other],
    ['any, of a call that rested on none', unasked, other],
    ['any, where nothing is held', null, other],
  ] as const)('is refused where it is %s', (_, before, approval) => {
    const named = { ...entryOf(2n), approval }
    expect(() => underApproval(before, named, 'fee-bump')).toThrow('APPROVAL_USED')
  })

  test('is its own call’s, stays with a bump that names none, and ends with a cancel', () => {
    const named = { ...entryOf(2n), approval: ofCall }
    expect(underApproval(held, named, 'fee-bump').approval).toEqual(ofCall)
    expect(underApproval(held, entryOf(2n), 'fee-bump').approval).toEqual(ofCall)
    expect(underApproval(held, entryOf(2n), 'cancel').approval).toBeNull()
  })
})

describe('the ledger of the user side', () => {
  let home: string
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'cs-ledger-'))
  })
  afterAll(() => rmSync(home, { recursive: true, force: true }))

  test('has what was decided at once, and on disk with how much of the evidence that covers', async () => {
    const path = join(home, 'decided')
    const wallet = randomBytes(16)
    const evidence = { length: 7 }
    const [first, second] = [entryOf(1n), entryOf(2n)]
    const ledger = openLedgerStore(path, evidence)
    ledger.decide((writer) => {
      writer.putLane(3, 50)
      writer.putEntry(wallet, 8453, 0, first)
      expect(writer.entry(wallet, 8453, 0)).toEqual(first)
    })
    ledger.decide((writer) => writer.putEntry(wallet, 8453, 0, second))
    evidence.length = 9
    await ledger.close()

    const again = openLedgerStore(path, evidence)
    expect(again.covered).toBe(9)
    expect(again.highestIn(3)).toBe(50)
    again.decide((writer) => expect(writer.entry(wallet, 8453, 0)).toEqual(second))
    await again.close()
  })

  test('puts what waits before anything that must be on disk now', async () => {
    const path = join(home, 'order')
    const wallet = randomBytes(16)
    const ledger = openLedgerStore(path, { length: 1 })
    ledger.decide((writer) => writer.putEntry(wallet, 1, 4, entryOf(1n)))
    await ledger.commit((writer) => writer.putLane(9, 1)).flushed
    const other = openLedgerStore(path, { length: 1 })
    other.decide((writer) => expect(writer.entry(wallet, 1, 4)).not.toBeNull())
    expect(other.highestIn(9)).toBe(1)
    await other.close()
    await ledger.close()
  })

  test('counts an approval as open until it is used, also after a restart', async () => {
    const path = join(home, 'open')
    const ledger = openLedgerStore(path, { length: 0 })
    const ids = [randomBytes(16), randomBytes(16), randomBytes(16)]
    const [used, ended] = ids
    if (used === undefined || ended === undefined) throw new Error('no ids')
    const open = (of: typeof ledger) => of.approvals.openApprovals('user_1', Date.now())
    const asked = {
      ...{ approvalId: newWalletId().replace('sw_', 'apr_') as ApprovalId, userId: 'user_1' },
      ...{ walletId: newWalletId(), keyId: newKeyId(), maxNativeWei: 1n },
      expiresAtMs: Date.now() + 3_600_000,
    }
    const call = { chainId: 8453, to: STRANGER, value: 7n, data: '0x' } as const
    const row = (end: 'declined' | null) => ({
      term: encodeApprovalTerm(callTerm(asked, call)),
      ...{ userId: 'user_1', askedAtMs: Date.now(), needed: 1, delaySeconds: 0, rule: 'r' },
      ...{ spendUsd: '1', payeeLabel: null, askedAgain: null, approvals: [] },
      ended: end === null ? null : { as: end, atMs: Date.now(), comment: null },
    })
    await ledger.commit((writer) => {
      for (const id of ids) writer.putApproval(id, row(null))
    }).flushed
    expect(open(ledger)).toEqual({ ofUser: 3, all: 3 })
    ledger.decide((writer) => writer.putApprovalUse(used, Buffer.from('place')))
    await ledger.commit((writer) => writer.putApproval(ended, row('declined'))).flushed
    expect(open(ledger)).toEqual({ ofUser: 1, all: 1 })
    // Told of it again, it is still used.
    await ledger.commit((writer) => writer.putApproval(used, row(null))).flushed
    expect(open(ledger)).toEqual({ ofUser: 1, all: 1 })
    await ledger.close()

    const again = openLedgerStore(path, { length: 0 })
    expect(open(again)).toEqual({ ofUser: 1, all: 1 })
    await again.close()
  })

  test('drops the ids of intents once they have expired, and not before', async () => {
    const ledger = openLedgerStore(join(home, 'ids'), { length: 0 })
    const [old, young] = [randomBytes(32), randomBytes(32)]
    ledger.decide((writer) => {
      writer.rememberIntents(Date.now() - 1, [old])
      writer.rememberIntents(Date.now() + 60_000, [young])
    })
    expect([ledger.hasIntent(old), ledger.hasIntent(young)]).toEqual([false, true])
    await ledger.close()
  })
})

describe('rows on their way to disk', () => {
  test('that could not be written wait again, in their order, but for those with newer values', () => {
    const written: [number, string][] = []
    const rows = unflushedRows<number, string>((key, value) => void written.push([key, value]))
    rows.set(1, 'first')
    rows.set(2, 'first')
    const lost = rows.put()
    rows.set(1, 'second')
    lost.failed()
    expect([rows.get(1), rows.get(2), rows.waiting]).toEqual(['second', 'first', 2])
    written.length = 0
    rows.put().flushed()
    expect(written).toEqual([
      [2, 'first'],
      [1, 'second'],
    ])
    expect([rows.get(1), rows.get(2)]).toEqual([undefined, undefined])
  })

  test('are put by one transaction at a time, and after a refusal with what came meanwhile', async () => {
    const rows = unflushedRows<number, string>((key) => void put.at(-1)?.push(key))
    const put: number[][] = []
    const disk: { takes(): void; refuses(): void }[] = []
    const write = oneAtATime(async () => {
      put.push([])
      const taken = rows.put()
      try {
        await new Promise<void>((resolve, reject) => {
          disk.push({ takes: resolve, refuses: () => reject(new Error('the disk is full')) })
        })
      } catch (error) {
        taken.failed()
        throw error
      }
      taken.flushed()
    })
    rows.set(1, 'large')
    // Whoever asks as soon as it knows asks for the one that others wait for already.
    const first = write().catch(() => write())
    rows.set(2, 'small')
    const second = write()
    expect(put).toEqual([[1]])
    disk[0]?.refuses()
    await new Promise(setImmediate)
    expect(put).toEqual([[1], [1, 2]])
    disk[1]?.takes()
    await Promise.all([first, second])
    expect(rows.waiting).toBe(0)
    rows.set(3, 'next')
    void write()
    expect(put.at(-1)).toEqual([3])
  })

  test('that were set again are written once, with their newest value', () => {
    const written: [number, string][] = []
    const rows = unflushedRows<number, string>((key, value) => void written.push([key, value]))
    rows.set(1, 'first')
    rows.set(2, 'first')
    rows.set(1, 'second')
    rows.put().flushed()
    expect(written).toEqual([
      [2, 'first'],
      [1, 'second'],
    ])
    expect([rows.get(1), rows.get(2), rows.waiting]).toEqual([undefined, undefined, 0])
  })

  test('stay readable while a newer value waits', () => {
    const rows = unflushedRows<number, string>(() => {})
    rows.set(1, 'first')
    const put = rows.put()
    rows.set(1, 'second')
    put.flushed()
    expect(rows.get(1)).toBe('second')
  })
})
