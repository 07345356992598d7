import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CarriedShares } from '../../src/custody/domain-keys/carried-shares.js'
import type { StoredRecord, WalletProofs } from '../../src/custody/domain-keys/share-copies.js'
import { openShareStore, type ShareStore } from '../../src/custody/domain-keys/share-store.js'
import { ONE_CELL } from '../../src/domain/cells.js'
import { addInto, pointOf, randomScalar, signDigest } from '../../src/quorum-protocol/curve.js'
import {
  commitmentOf,
  encodeCertificate,
  selfTestDigest,
  transcriptOf,
} from '../../src/quorum-protocol/keygen.js'

/** Shares of two homes of one service, each on a machine of its own. */

const WRAPPING_KEY = randomBytes(32)
const WALLET = randomBytes(16)

let directory: string
let rows: Map<string, StoredRecord>
/** While a record is on its way to the rows. */
/** With which each home owns the journal now. */
let epochs: Record<string, number>
let onTheWay: () => void | Promise<void>
let one: ShareStore
let other: ShareStore

function layoutOf(home: string) {
  return { shares: join(directory, home, 'shares'), sharesCopy: join(directory, home, 'copy') }
}

function open(home: string, key = WRAPPING_KEY): ShareStore {
  const elsewhere: CarriedShares = {
    async put(walletId, record) {
      await onTheWay()
      rows.set(hex(walletId), record)
    },
    get: (walletId) => rows.get(hex(walletId)),
    first: () => [...rows.values()][0],
    leadership: () => ({ journal: 'a journal', epoch: epochs[home] ?? 0, cell: ONE_CELL }),
  }
  return openShareStore('service', layoutOf(home), [Buffer.from(key)], elsewhere)
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'cs-carried-'))
  rows = new Map()
  epochs = { one: 1, other: 1 }
  onTheWay = () => undefined
  await open('one').close()
  cpSync(join(directory, 'one'), join(directory, 'other'), { recursive: true })
  one = open('one')
  other = open('other')
})
afterEach(async () => {
  await one.close()
  await other.close()
  rmSync(directory, { recursive: true, force: true })
})

interface Key {
  readonly certificate: Buffer
  readonly share: Buffer
  readonly proofs: WalletProofs
}

/** Of the service, and of the user side but for its share. */
function keyOf(epoch: number, walletId = WALLET): Key {
  const [share, theirs] = [randomScalar(), randomScalar()]
  const terms = {
    ...{ sessionId: randomBytes(16), walletId, kind: 'user' as const },
    ...{ ownerHash: randomBytes(32), epoch },
  }
  const reveal = (of: Buffer) => ({ point: pointOf(of), nonce: randomBytes(32) })
  const [own, user] = [reveal(share), reveal(theirs)]
  const transcript = transcriptOf(
    terms,
    { ...own, commitment: commitmentOf('service', own, terms.sessionId) },
    { ...user, commitment: commitmentOf('user', user, terms.sessionId) },
  )
  const points = { servicePoint: own.point, userPoint: user.point }
  const certificate = encodeCertificate({ ...terms, ...points, transcript })
  addInto(theirs, share)
  const selfTest = signDigest(selfTestDigest(certificate), theirs)
  const signature = randomBytes(64)
  const proofs = { serviceSignature: signature, userSignature: signature, selfTest }
  return { certificate, share, proofs }
}

function made(by: ShareStore, { certificate, share, proofs }: Key): void {
  by.putPending(certificate, share)
  by.activate(certificate, proofs)
}

/** Of the next epoch, without a share that belongs to it on the other side. */
async function refreshed(by: ShareStore, { certificate, share, proofs }: Key): Promise<void> {
  by.putNext(certificate, share)
  await by.carry(WALLET)
  by.activateNext(certificate, proofs)
}

function expectShare(of: ShareStore, { share }: Key): void {
  const record = of.get(WALLET)
  expect(record?.proofs).toBeTruthy()
  expect(record === null ? null : hex(of.openShare(record))).toBe(hex(share))
}

describe('a share', () => {
  /** The other one has it by then. */
  async function madeAtOne(key: Key): Promise<void> {
    made(one, key)
    await one.carry(WALLET)
    expectShare(other, key)
  }

  test("that one machine made is the other one's when it is asked for", async () => {
    const key = keyOf(1)
    made(one, key)
    expect(other.get(WALLET)).toBeNull()
    await one.carry(WALLET)
    expectShare(other, key)
    // On its disk, and not read from the rows.
    rows.clear()
    other.forget(WALLET)
    expectShare(other, key)
  })

  test('is carried sealed', async () => {
    const key = keyOf(1)
    made(one, key)
    await one.carry(WALLET)
    expect(JSON.stringify([...rows.values()].map(bytesOf))).not.toContain(hex(key.share))
    expect(JSON.stringify([...rows.values()].map(bytesOf))).toContain(hex(key.certificate))
  })

  test('is carried once for each of its changes', async () => {
    let puts = 0
    onTheWay = () => {
      puts++
    }
    made(one, keyOf(1))
    expect(one.uncarried(2).map(hex)).toEqual([hex(WALLET)])
    await one.carry(WALLET)
    await one.carry(WALLET)
    expect([puts, one.uncarried(2)]).toEqual([1, []])
    await refreshed(one, keyOf(2))
    await one.carry(WALLET)
    expect([puts, one.uncarried(2)]).toEqual([3, []])
    // As in a home without a journal until now: it is there already.
    one.marks.putBefore()
    expect(one.uncarried(2)).toHaveLength(1)
    await one.carry(WALLET)
    expect([puts, one.uncarried(2)]).toEqual([3, []])
  })

  test('that changes while it is carried is carried again', async () => {
    const [first, second] = [keyOf(1), keyOf(2)]
    made(one, first)
    onTheWay = () => {
      onTheWay = () => undefined
      one.putNext(second.certificate, second.share)
    }
    await one.carry(WALLET)
    expect(one.isUncarried(WALLET)).toBe(true)
    await one.carry(WALLET)
    expect(one.isUncarried(WALLET)).toBe(false)
    expect(other.adopt(WALLET)).toBe(true)
    expect(nextOf(other)).toBe(hex(second.certificate))
  })

  test('that came last is carried again where an older one may have come after it', async () => {
    const [first, second] = [keyOf(1), keyOf(2)]
    made(one, first)
    let release = () => {}
    onTheWay = () =>
      new Promise((resolve) => {
        release = resolve
      })
    const late = one.carry(WALLET)
    onTheWay = () => undefined
    one.putNext(second.certificate, second.share)
    await one.carry(WALLET)
    expect(one.isUncarried(WALLET)).toBe(false)
    release()
    await late
    await one.carry(WALLET)
    expectShare(other, first)
    expect(nextOf(other)).toBe(hex(second.certificate))
  })

  test('of a later epoch takes the place of an earlier one, and never the other way round', async () => {
    const [first, second] = [keyOf(1), keyOf(2)]
    await madeAtOne(first)
    const old = new Map(rows)
    await refreshed(one, second)
    await one.carry(WALLET)
    expect([other.adopt(WALLET), other.adopt(WALLET)]).toEqual([true, false])
    expectShare(other, second)
    rows = old
    expect(other.adopt(WALLET)).toBe(false)
    expectShare(other, second)
  })

  test('that is in use is kept where a row has one that is being made', async () => {
    const key = keyOf(1)
    one.putPending(key.certificate, key.share)
    await one.carry(WALLET)
    const pending = new Map(rows)
    one.activate(key.certificate, key.proofs)
    await one.carry(WALLET)
    expectShare(other, key)
    rows = pending
    expect(other.adopt(WALLET)).toBe(false)
    expectShare(other, key)
  })

  test('that this machine is making is not replaced by one that was given up before', async () => {
    const [first, own] = [keyOf(1), keyOf(1)]
    one.putPending(first.certificate, first.share)
    await one.carry(WALLET)
    one.putPending(own.certificate, own.share)
    expect(one.adopt(WALLET)).toBe(false)
    one.activate(own.certificate, own.proofs)
    expectShare(one, own)
  })

  test('that an earlier owner was making is not carried over what the next one put to use', async () => {
    const [given, key] = [keyOf(1), keyOf(1)]
    one.putPending(given.certificate, given.share)
    epochs = { one: 3, other: 2 }
    made(other, key)
    await other.carry(WALLET)
    await one.carry(WALLET)
    expectShare(one, key)
    expect(one.uncarried(1)).toEqual([])
    expect(hex(rows.get(hex(WALLET))?.certificate ?? Buffer.alloc(0))).toBe(hex(key.certificate))
  })

  test('that an earlier owner was about to change over to goes, where the next one has changed over', async () => {
    const [key, given, second] = [keyOf(1), keyOf(2), keyOf(2)]
    await madeAtOne(key)
    one.putNext(given.certificate, given.share)
    epochs = { one: 3, other: 2 }
    await refreshed(other, second)
    await other.carry(WALLET)
    await one.carry(WALLET)
    expectShare(one, second)
  })

  test('that is next goes where the next owner has another one, and stays where it has none', async () => {
    const [key, given, second] = [keyOf(1), keyOf(2), keyOf(2)]
    await madeAtOne(key)
    one.putNext(given.certificate, given.share)
    epochs = { one: 3, other: 2 }
    expect(one.adopt(WALLET)).toBe(false)
    expect(nextOf(one)).toBe(hex(given.certificate))
    other.putNext(second.certificate, second.share)
    await other.carry(WALLET)
    expect(one.adopt(WALLET)).toBe(true)
    expect(nextOf(one)).toBe(hex(second.certificate))
  })

  test('that waits to be used takes no place of one in use, of whatever epoch', async () => {
    const [key, forged] = [keyOf(1), keyOf(2)]
    await madeAtOne(key)
    other.putNext(forged.certificate, forged.share)
    const share = other.get(WALLET)?.next?.sealedShare ?? Buffer.alloc(0)
    rows.set(hex(WALLET), { certificate: forged.certificate, share, proofs: null })
    expect(one.adopt(WALLET)).toBe(false)
    expectShare(one, key)
  })

  describe('of an earlier epoch that an operator has put back', () => {
    const [first, second] = [keyOf(1), keyOf(2)]
    const inRow = () => hex(rows.get(hex(WALLET))?.certificate ?? Buffer.alloc(0))

    beforeEach(async () => {
      made(one, first)
      await one.carry(WALLET)
      expectShare(other, first)
      await refreshed(one, second)
      await one.carry(WALLET)
      other.marks.putRestored()
    })

    test('takes the place of the later one where the user side went back as well', async () => {
      expect(other.adopt(WALLET)).toBe(false)
      expect(await other.carry(WALLET)).toBe(false)
      expect(inRow()).toBe(hex(second.certificate))
      expect(await other.carry(WALLET, first.certificate)).toBe(true)
      expectShare(other, first)
      expect(inRow()).toBe(hex(first.certificate))
      // The other machine, which has the later one still, is told by the user side, too.
      one.marks.putBefore()
      expect(await one.carry(WALLET)).toBe(false)
      expect(await one.carry(WALLET, first.certificate)).toBe(true)
      expectShare(one, first)
    })

    test('drops no next share that the user side may have changed over to', async () => {
      expect(await other.carry(WALLET, second.certificate)).toBe(true)
      const third = keyOf(3)
      one.putNext(third.certificate, third.share)
      await one.carry(WALLET)
      // As of a backup from before that.
      other.marks.putRestored()
      expect(await other.carry(WALLET)).toBe(false)
      expect(await other.carry(WALLET, third.certificate)).toBe(true)
      expectShare(other, second)
      expect(nextOf(other)).toBe(hex(third.certificate))
    })

    test('goes where the user side did not', async () => {
      expect(await other.carry(WALLET, second.certificate)).toBe(true)
      expectShare(other, second)
      expect(other.isUncarried(WALLET)).toBe(false)
    })

    test('stays put back while it is refreshed', async () => {
      const again = keyOf(2)
      other.putNext(again.certificate, again.share)
      expect(await other.carry(WALLET)).toBe(false)
      expect(await other.carry(WALLET, first.certificate)).toBe(true)
      expect(() => other.requireWaiting(again.certificate)).not.toThrow()
      other.activateNext(again.certificate, again.proofs)
      await other.carry(WALLET)
      expectShare(other, again)
      expect(inRow()).toBe(hex(again.certificate))
    })
  })

  test('that was being made when a backup was, is in use where the journal has it so', async () => {
    const key = keyOf(1)
    one.putPending(key.certificate, key.share)
    await one.carry(WALLET)
    expect(other.adopt(WALLET)).toBe(true)
    one.activate(key.certificate, key.proofs)
    await one.carry(WALLET)
    other.marks.putRestored()
    expectShare(other, key)
    await other.carry(WALLET)
    expect(rows.get(hex(WALLET))?.proofs).toBeTruthy()
  })

  test('is not certified where another has taken its place while it was carried', async () => {
    const [key, given, next] = [keyOf(1), keyOf(2), keyOf(2)]
    made(one, key)
    await one.carry(WALLET)
    one.putNext(given.certificate, given.share)
    await one.carry(WALLET)
    one.putNext(next.certificate, next.share)
    // The service of this home owns the journal again meanwhile, and brings back what the row has.
    epochs = { one: 2, other: 1 }
    await one.carry(WALLET)
    expect(nextOf(one)).toBe(hex(given.certificate))
    expect(() => one.requireWaiting(next.certificate)).toThrow('another key has taken the place')
  })

  test('that is written past the journal is yet to be carried there', async () => {
    made(one, keyOf(1))
    await one.carry(WALLET)
    await one.marks.noteLevelWith('a journal')
    await one.close()
    const past = openShareStore('service', layoutOf('one'), [Buffer.from(WRAPPING_KEY)])
    const next = keyOf(2)
    past.putNext(next.certificate, next.share)
    await past.close()
    one = open('one')
    expect(one.isUncarried(WALLET)).toBe(true)
  })

  test('is not made under another data key where there are some of the one that is lost', async () => {
    const early = open('an early one')
    early.requireDataKey()
    made(one, keyOf(1))
    await one.carry(WALLET)
    expect(() => open('a third')).toThrow('does not contain the data key')
    // It was opened before its store had what the journal has.
    expect(() => early.requireDataKey()).toThrow('does not contain the data key')
    expect(() => other.requireDataKey()).not.toThrow()
    await early.close()
  })

  function nextOf(store: ShareStore): string {
    return hex(store.get(WALLET)?.next?.encodedCertificate ?? Buffer.alloc(0))
  }

  test.each<[string, (record: StoredRecord) => StoredRecord]>([
    ['of another wallet', (record) => ({ ...record, ...recordOf(keyOf(1, randomBytes(16))) })],
    ['that another point belongs to', (record) => ({ ...record, share: otherShare() })],
    [
      'of which the wallet never signed',
      ({ proofs, ...record }) => ({
        ...record,
        proofs: proofs && { ...proofs, selfTest: keyOf(1).proofs.selfTest },
      }),
    ],
    ['that was damaged', (record) => ({ ...record, share: Buffer.alloc(record.share.length) })],
  ])('%s is not adopted', async (_, forged) => {
    made(one, keyOf(1))
    await one.carry(WALLET)
    const [record] = rows.values()
    if (record === undefined) throw new Error('nothing was carried')
    rows.set(hex(WALLET), forged(record))
    expect(() => other.adopt(WALLET)).toThrow(Error)
    rows.clear()
    expect(other.get(WALLET)).toBeNull()
  })

  /** Under the data key of both, for the same wallet and epoch. */
  function otherShare(): Uint8Array {
    const { certificate, share } = keyOf(1)
    one.putNext(certificate, share)
    return one.get(WALLET)?.next?.sealedShare ?? Buffer.alloc(0)
  }
})

function recordOf({ certificate }: Key) {
  return { certificate }
}

function bytesOf({ certificate, share }: StoredRecord): string[] {
  return [hex(certificate), hex(share)]
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
