import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemTimers } from '../../src/clock/timers.js'
import { approvalKeyProof, encodeApprovalTerm } from '../../src/custody/approvals/approval-term.js'
import { ALL_PARTITIONS, type Cell } from '../../src/domain/cells.js'
import { cellOfGasWalletKey, gasWalletId, gasWalletKey } from '../../src/domain/gas-wallets.js'
import { type ApprovalId, type UserId, ulidBody, ulidBytes } from '../../src/domain/ids.js'
import { partitionOf } from '../../src/domain/partition.js'
import { requireIntentOf } from '../../src/identity-provider/vault/own-cell.js'
import type { PathView } from '../../src/identity-provider/vault/sub-key-rules.js'
import { expectBytes, expectList } from '../../src/quorum-protocol/bytes.js'
import { randomScalar, signDigest } from '../../src/quorum-protocol/curve.js'
import { PAYLOAD_TYPE } from '../../src/quorum-protocol/intent.js'
import { certificateMessage, selfTestDigest } from '../../src/quorum-protocol/keygen.js'
import { decodePayload, encodePayload } from '../../src/quorum-protocol/payload.js'
import {
  refreshCommitment,
  refreshDelta,
  refreshedCertificate,
} from '../../src/quorum-protocol/refresh.js'
import type { RefusalCode } from '../../src/quorum-protocol/refusal.js'
import { connectCoSigner } from '../../src/service-custody/connect-co-signer.js'
import { callTerm } from './approval-terms.js'
import { grantPut, newGrant } from './grants.js'
import {
  type Quorum,
  READY_MS,
  type ReadyWallet,
  ROUTER,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
} from './harness.js'
import {
  approve,
  becomeService,
  coSign,
  type HostileService,
  intentFor,
  judged,
  refusalOf,
  sealOwn,
  sign,
} from './hostile.js'

/** Two services of one installation, each with some of the users, at the real identity provider. */

const CHAIN_ID = 8453
const GAS = gasWalletId(CHAIN_ID, 0)
const NOBODY = '0x0000000000000000000000000000000000000000'
const NO_KEY = { keyId: Buffer.alloc(16), grantId: Buffer.alloc(16), proofKey: null }
const JOURNALS = ['0a', '0b', '0c'].map((byte) => byte.repeat(16))

let quorum: Quorum
let wallet: ReadyWallet
let gas: ReadyWallet
/** Of the user's cell, and of all others'. */
let own: Cell
let rest: Cell
let epoch = 1
let mine: HostileService
let theirs: HostileService
let nonce = 1_000

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum, [CHAIN_ID])
  const walletId = gasWalletKey(GAS, 0)
  const { address } = await quorum.coSigner.createServiceWallet(walletId)
  gas = { ...wallet, walletId, address }
  await signed(quorum, requestOf(wallet, transfer(nonce++)))
  await quorum.coSigner.close()
  const partitions = 2 ** partitionOf(quorum.userId as UserId)
  own = { number: 0, partitions }
  rest = { number: 1, partitions: ALL_PARTITIONS - partitions }
})
afterAll(() => quorum?.close())

beforeEach(async () => {
  mine = await become(own)
  theirs = await become(rest)
  return async () => {
    await mine.close()
    await theirs.close()
  }
})

/** As a service that took its cell's journal again. */
function become(cell: Cell): Promise<HostileService> {
  return becomeService(quorum, startOf(cell))
}

function startOf(cell: Cell) {
  const journal = JOURNALS[cell.number] ?? ''
  return { boot: randomBytes(16), leadership: { journal, epoch: epoch++, cell } }
}

describe('the services of two cells', () => {
  test('sign at once, each for its own users alone', async () => {
    const intent = (seq: number) => intentFor(wallet, transfer(nonce++), seq)
    expect(await judged(mine, intent)).toBe('approved')
    expect(await judged(theirs, intent)).toBe('NOT_GRANTED')
    expect(await judged(mine, intent)).toBe('approved')
  })

  test('outlive each other’s new starts, and restarts of the identity provider', async () => {
    const later = await become(rest)
    try {
      const intent = (seq: number) => intentFor(wallet, transfer(nonce++), seq)
      await heard(() => theirs.nextSeq(), 'FENCED')
      expect(await judged(mine, intent)).toBe('approved')
      await quorum.identityProvider.kill()
      quorum.identityProvider = await quorum.startIdentityProvider()
      await heard(() => theirs.nextSeq(), 'FENCED')
      for (const service of [mine, later]) await heard(() => greeted(service), 'none')
      expect(await judged(mine, intent)).toBe('approved')
      expect(await judged(later, intent)).toBe('NOT_GRANTED')
    } finally {
      await later.close()
    }
  })

  test('have their shares sealed each to its own quorum signer', async () => {
    const before = expectBytes(await mine.quorum.call('boot', [])).subarray(0, 16)
    await quorum.quorumSigner.kill()
    quorum.quorumSigner = await quorum.startQuorumSigner()
    // Of a new boot, as another machine's signer is.
    await heard(() => greeted(theirs), 'none')
    const seq = await mine.nextSeq()
    const batch = await coSign(mine.signer, seq, [intentFor(wallet, transfer(nonce++), seq)])
    const call = mine.userSide.call('approve', [batch.header, batch.intents, batch.coSignature])
    const [bitmap, , boot] = expectList(await call, 5)
    expect(bitmap).toBe(1)
    expect(expectBytes(boot)).toEqual(before)
  })

  test('take no batch of a lane that the other has', async () => {
    const seq = await theirs.nextSeq()
    const batch = await coSign(mine.signer, seq, [intentFor(wallet, transfer(nonce++), seq)])
    expect(await refusalOf(approve(mine, batch))).toBe('REPLAYED')
    const after = await mine.nextSeq()
    const again = await coSign(mine.signer, after, [intentFor(wallet, transfer(nonce++), after)])
    expect((await approve(mine, again)).answers).toEqual([null])
  })
})

describe('of the other cell’s users a service', () => {
  test('replaces no call, with a key of theirs, one of nobody, or none', async () => {
    const seq = await mine.nextSeq()
    const call = transfer(nonce++)
    const batch = await coSign(mine.signer, seq, [intentFor(wallet, call, seq)])
    expect((await approve(mine, batch)).answers).toEqual([null])
    const replaces = batch.ids[0] ?? Buffer.alloc(0)
    const dearer = { ...call, maxFeePerGas: 2n * call.maxFeePerGas }
    const cancel = { ...dearer, to: wallet.address, value: 0n }
    for (const payload of [dearer, cancel]) {
      const keyed = { replaces, proofKey: null }
      expect(await judged(theirs, (at) => intentFor(wallet, payload, at, keyed))).toBe(
        'NOT_GRANTED',
      )
      for (const none of [NO_KEY, { ...NO_KEY, keyId: randomBytes(16) }]) {
        const keyless = { ...none, replaces }
        expect(await judged(theirs, (at) => intentFor(wallet, payload, at, keyless))).toBe(
          'UNKNOWN_KEY',
        )
      }
    }
    // Nor the same bytes once more.
    expect(await judged(theirs, (at) => intentFor(wallet, call, at, { proofKey: null }))).toBe(
      'NOT_GRANTED',
    )
    const keyed = { replaces, proofKey: null }
    expect(await judged(mine, (at) => intentFor(wallet, dearer, at, keyed))).toBe('approved')
  })

  test('ends a delegation that nobody uses at the most, and cannot have that signed', async () => {
    const end = { type: 'authorization', chainId: CHAIN_ID, delegate: NOBODY } as const
    expect(
      await judged(mine, (seq) => intentFor(wallet, { ...end, nonce: nonce++ }, seq, NO_KEY)),
    ).toBe('approved')
    const seq = await theirs.nextSeq()
    const payload = { ...end, nonce: nonce++ }
    const intents = [intentFor(wallet, payload, seq, NO_KEY)]
    const batch = await coSign(theirs.signer, seq, intents)
    const approval = await approve(theirs, batch)
    expect(approval.answers).toEqual([null])
    // It has no share of the wallet, as no stranger has.
    const shares = sealOwn(theirs, wallet, batch.ids, (share) => share.fill(7))
    expect(await sign(theirs, batch, approval, approval.shares, shares)).toEqual(['UNAUTHENTIC'])
  })

  test('changes no grant, and lifts no freeze', async () => {
    const grant = newGrant(quorum, wallet.walletId)
    const put = grantPut(grant, 0, null)
    expect(await refusalOf(theirs.userSide.call('grant-put', put))).toBe('NOT_GRANTED')
    const revoked = { keyId: wallet.keyId, proofKey: null, revoked: true, consoleToken: '' }
    const revoking = grantPut(newGrant(quorum, wallet.walletId, revoked), 0, null)
    expect(await refusalOf(theirs.userSide.call('grant-put', revoking))).toBe('NOT_GRANTED')
    const lift = [1, randomBytes(32), quorum.userId, quorum.consoleToken, null, 0]
    expect(await refusalOf(theirs.userSide.call('freeze-lift', lift))).toBe('NOT_GRANTED')
    expect(await refusalOf(mine.userSide.call('grant-put', put))).toBe('none')
  })

  test('asks people about no call, and takes and ends no approval', async () => {
    const payload = transfer(nonce++)
    const { walletId, keyId } = wallet
    const approvalId = `apr_${ulidBody(Date.now(), randomBytes(10))}` as ApprovalId
    const of = { approvalId, walletId, keyId, userId: quorum.userId }
    const term = callTerm({ ...of, maxNativeWei: 1n, expiresAtMs: Date.now() + 600_000 }, payload)
    const proof = approvalKeyProof(wallet.proofKey, term, Buffer.alloc(0))
    const shown = [quorum.userId, Buffer.alloc(0), 1, 0, 'a rule', '100.00', proof, null]
    const ask = [encodeApprovalTerm(term), ...shown]
    expect(await refusalOf(theirs.userSide.call('approval-ask', ask))).toBe('NOT_GRANTED')
    await mine.userSide.call('approval-ask', ask)
    const give = [term.approvalId, null, quorum.consoleToken]
    const end = [term.approvalId, 'withdrawn']
    expect(await refusalOf(theirs.userSide.call('approval-give', give))).toBe('NOT_GRANTED')
    expect(await refusalOf(theirs.userSide.call('approval-end', end))).toBe('NOT_GRANTED')
    expect(await refusalOf(mine.userSide.call('approval-give', give))).toBe('none')
  })

  test('uses no wallet of theirs with a key of its own users', () => {
    const intent = { keyId: randomBytes(16), walletId: ulidBytes(wallet.walletId) }
    const payload = decodePayload(PAYLOAD_TYPE.feeMarketTransaction, encodedCall())
    const view = (walletId: Uint8Array) => ({ grant: { walletId }, partition: 3 }) as PathView
    const require = (walletId: Uint8Array) =>
      requireIntentOf({ number: 0, partitions: 2 ** 3 }, intent, payload, 'user', {
        view: () => view(walletId),
      })
    expect(() => require(intent.walletId)).not.toThrow()
    expect(() => require(randomBytes(16))).toThrow('NOT_GRANTED: key of another wallet')
  })

  test('refreshes no share, since it cannot prove to have the other one', async () => {
    const [sessionId, part, commitNonce] = [randomBytes(16), randomBytes(32), randomBytes(32)]
    const commitment = refreshCommitment({ part, nonce: commitNonce }, sessionId)
    const walletId = ulidBytes(wallet.walletId)
    const begin = [sessionId, walletId, 1, commitment]
    const [answered] = expectList(await theirs.userSide.call('refresh-begin', begin), 1)
    await theirs.userSide.call('refresh-prepare', [sessionId, part, commitNonce])
    const delta = refreshDelta(part, expectBytes(answered, 32))
    const { encoded } = refreshedCertificate(recordOf(theirs).certificate, delta, sessionId)
    const signature = await theirs.signer.sign(certificateMessage(encoded))
    const selfTest = signDigest(selfTestDigest(encoded), randomScalar())
    const certify = [walletId, encoded, signature, selfTest]
    expect(await refusalOf(theirs.userSide.call('refresh-certify', certify))).toBe('UNAUTHENTIC')
    expect(await judged(mine, (seq) => intentFor(wallet, transfer(nonce++), seq))).toBe('approved')
  })
})

describe('the gas wallets of a cell', () => {
  const call = () => transfer(nonce++, { to: ROUTER, value: 0n, data: '0x1234' })

  test('are named with its number', () => {
    for (const number of [0, 1, 23, 300]) {
      expect(cellOfGasWalletKey(ulidBytes(gasWalletKey(GAS, number)))).toBe(number)
    }
  })

  test('send for its own service alone', async () => {
    expect(await judged(theirs, (seq) => intentFor(gas, call(), seq, NO_KEY))).toBe('NOT_GRANTED')
    expect(await judged(mine, (seq) => intentFor(gas, call(), seq, NO_KEY))).toBe('approved')
  })

  test('get their keys, and new shares, from its own service alone', async () => {
    const commit = (number: number) => {
      const walletId = ulidBytes(gasWalletKey(gasWalletId(CHAIN_ID, 1), number))
      return [randomBytes(16), walletId, 2, randomBytes(32), randomBytes(32)]
    }
    for (const [service, cell] of [[mine, own] as const, [theirs, rest] as const]) {
      const other = 1 - cell.number
      const { userSide } = service
      expect(await refusalOf(userSide.call('keygen-commit', commit(other)))).toBe('NOT_GRANTED')
      expect(await refusalOf(userSide.call('keygen-commit', commit(cell.number)))).toBe('none')
    }
    const begin = () => [randomBytes(16), ulidBytes(gas.walletId), 1, randomBytes(32)]
    expect(await refusalOf(theirs.userSide.call('refresh-begin', begin()))).toBe('NOT_GRANTED')
    expect(await refusalOf(mine.userSide.call('refresh-begin', begin()))).toBe('none')
  })
})

test('a service whose users another cell has says so and waits, and is not ended by it', async () => {
  const lines: string[] = []
  const lowest = rest.partitions & -rest.partitions
  const third = { number: 2, partitions: rest.partitions - lowest }
  const { boot, leadership } = startOf(third)
  const waiting = await connectCoSigner({
    ...{ home: quorum.home, mode: 'dev', boot, timers: systemTimers() },
    leadership: Promise.resolve(leadership),
    log: pino({}, { write: (line: string) => void lines.push(line) }),
  })
  try {
    await expect.poll(() => lines.join(''), { timeout: READY_MS }).toContain('but cell 1 has')
    expect(waiting.reach().fenced).toBe(false)
    expect(lines.join('')).toContain('restart cell 1 without those')
    expect(waiting.reach()).toMatchObject({ complete: false, fenced: false })
    const fewer = await become({ ...rest, partitions: lowest })
    await fewer.close()
    expect(await waiting.whenReady(READY_MS)).toBe(true)
  } finally {
    await waiting.close()
  }
})

function encodedCall(): Buffer {
  return encodePayload(transfer(0)).bytes
}

function recordOf({ shares }: HostileService) {
  const record = shares.get(ulidBytes(wallet.walletId))
  if (record === null) throw new Error('no share')
  return record
}

/** Announces itself on a new connection, and has a session with the quorum signer that is there. */
async function greeted(service: HostileService): Promise<void> {
  await service.nextSeq()
  const statement = await service.quorum.call('boot', [])
  await service.userSide.call('session', [statement])
}

/** Its connections come back by themselves: until then nobody answers. */
async function heard(call: () => Promise<unknown>, code: RefusalCode | 'none'): Promise<void> {
  const answer = () => refusalOf(call()).catch(() => 'unanswered')
  await expect.poll(answer, { timeout: READY_MS }).toBe(code)
}
