import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GrantUpdate } from '../../src/service-custody/co-signer.js'
import { countersignOk } from './command.js'
import { faultOf, grantPut, newGrant } from './grants.js'
import {
  newKeyId,
  type Quorum,
  type ReadyWallet,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
} from './harness.js'
import { becomeService, type HostileService, refusalOf } from './hostile.js'

/** What the user side makes of the grants of keys that take each other's place. */
const DAY_MS = 86_400_000
const NOT_GRANTED = { reason: 'REFUSED', detail: 'NOT_GRANTED' }

let quorum: Quorum

beforeAll(async () => {
  quorum = await startQuorum()
})
afterAll(() => quorum?.close())

function change(of: ReadyWallet, what: Partial<GrantUpdate> = {}): GrantUpdate {
  return newGrant(quorum, of.walletId, {
    ...{ keyId: of.keyId, proofKey: null, allowedChains: [1, 8453], effect: 'narrows' },
    ...{ dailyLimitMicros: null, monthlyLimitMicros: null },
    ...what,
  })
}

async function successorOf(
  old: ReadyWallet,
  allowedChains: readonly number[] = [1, 8453],
): Promise<ReadyWallet> {
  const next = { ...old, keyId: newKeyId(), proofKey: randomBytes(32) }
  const { keyId, proofKey } = next
  await quorum.coSigner.putGrant(
    change(old, { keyId, proofKey, allowedChains, rotatedFrom: old.keyId }),
  )
  return next
}

function signing(of: ReadyWallet, nonce: number, chainId = 8453) {
  return quorum.coSigner.sign(requestOf(of, transfer(nonce, { chainId })))
}

describe('a key that was rotated out', () => {
  test('signs nothing past its end, and its successor goes on', async () => {
    const old = await readyWallet(quorum)
    const next = await successorOf(old)
    await quorum.coSigner.putGrant(change(old, { expiresAt: Date.now() + DAY_MS }))
    await signed(quorum, requestOf(old, transfer(0)))
    await quorum.coSigner.putGrant(change(old, { expiresAt: Date.now() - 1, consoleToken: null }))
    expect(await signing(old, 1)).toMatchObject(NOT_GRANTED)
    expect(await signing(next, 1)).toMatchObject({ ok: true })
  })

  test('loses what its successor loses, and gains nothing that its successor is given', async () => {
    const old = await readyWallet(quorum, [8453])
    const allowedChains = [8453]
    const next = await successorOf(old, allowedChains)
    await quorum.coSigner.putGrant(
      change(old, { allowedChains, expiresAt: Date.now() + DAY_MS, consoleToken: null }),
    )
    await quorum.coSigner.putGrant(change(next, { effect: 'enlarges' }))
    expect(await signing(next, 0, 1)).toMatchObject({ ok: true })
    expect(await signing(old, 1, 1)).toMatchObject(NOT_GRANTED)
    expect(await signing(old, 0)).toMatchObject({ ok: true })
    await quorum.coSigner.putGrant(change(next, { allowedChains: [1], consoleToken: null }))
    expect(await signing(old, 1)).toMatchObject(NOT_GRANTED)
    await quorum.coSigner.putGrant(
      change(next, { permission: 'read', allowedChains: [1], consoleToken: null }),
    )
    expect(await signing(next, 1, 1)).toMatchObject(NOT_GRANTED)
    expect(await signing(old, 1)).toMatchObject(NOT_GRANTED)
  })

  test('is not rotated once more', async () => {
    const old = await readyWallet(quorum)
    await successorOf(old)
    await quorum.coSigner.putGrant(change(old, { expiresAt: Date.now() + DAY_MS }))
    expect(await faultOf(successorOf(old))).toMatchObject({ code: 'PERMISSION_DENIED' })
  })
})

describe('a change that comes late, past the service’s own checks', () => {
  let service: HostileService
  beforeAll(async () => {
    service = await becomeService(quorum)
  })
  afterAll(() => service?.close())

  const put = (grant: GrantUpdate, basedOn: number) =>
    refusalOf(service.userSide.call('grant-put', grantPut(grant, 0, null, basedOn)))

  test('or twice, undoes nothing that came after it', async () => {
    const wallet = await readyWallet(quorum)
    const narrow = change(wallet, { allowedChains: [8453], consoleToken: null })
    const larger = change(wallet, { effect: 'enlarges' })
    expect(await put(narrow, 1)).toBe('none')
    expect(await put(larger, 2)).toBe('none')
    expect(await put(narrow, 1)).toBe('STALE_GRANT')
    expect(await signing(wallet, 0, 1)).toMatchObject({ ok: true })
    expect(await put(narrow, 3)).toBe('none')
    expect(await put(larger, 2)).toBe('STALE_GRANT')
    expect(await signing(wallet, 1, 1)).toMatchObject(NOT_GRANTED)
  })

  test('gives a key with a successor nothing, which that would have without its end', async () => {
    const old = await readyWallet(quorum, [8453])
    const next = await successorOf(old, [8453])
    const ended = { allowedChains: [8453], expiresAt: Date.now() + DAY_MS, consoleToken: null }
    expect(await put(change(old, ended), 2)).toBe('none')
    const larger = { effect: 'enlarges', expiresAt: Date.now() + DAY_MS / 2 } as const
    expect(await put(change(old, larger), 3)).toBe('NOT_GRANTED')
    expect(await signing(next, 0, 1)).toMatchObject(NOT_GRANTED)
    const otherSecret = { allowedChains: [8453], proofKey: randomBytes(32) }
    expect(await put(change(old, { ...larger, ...otherSecret }), 3)).toBe('NOT_GRANTED')
    expect(await put(change(next, { effect: 'enlarges' }), 3)).toBe('none')
    expect(await signing(next, 0, 1)).toMatchObject({ ok: true })
  })

  test('makes no successor that was given up', async () => {
    const old = await readyWallet(quorum)
    const keyId = newKeyId()
    const successor = change(old, { keyId, proofKey: randomBytes(32), rotatedFrom: old.keyId })
    const givenUp = { ...successor, proofKey: null, revoked: true, consoleToken: null }
    expect(await put(givenUp, 0)).toBe('none')
    expect(await put(successor, 1)).toBe('CONFLICT')
    expect(await put(change(old, { keyId: newKeyId(), revoked: true }), 0)).toBe('UNKNOWN_KEY')
  })
})

test('the evidence of it verifies', async () => {
  expect(await countersignOk(quorum.home, ['verify-audit'])).toContain('both logs are whole')
})

test('changes of its cap in a row refuse no call that a key may make', async () => {
  const key = await readyWallet(quorum)
  let changing = true
  const changes = (async () => {
    for (let dollars = 1_000n; changing; dollars--) {
      const dailyLimitMicros = dollars * 1_000_000n
      await quorum.coSigner.putGrant(change(key, { dailyLimitMicros, consoleToken: null }))
    }
  })()
  const refused: unknown[] = []
  for (let nonce = 0; nonce < 40; nonce++) {
    const outcome = await signing(key, nonce)
    if (!outcome.ok) refused.push(outcome)
  }
  changing = false
  await changes
  expect(refused.filter((outcome) => !isPassing(outcome))).toEqual([])
})

/** The caller may ask again. */
function isPassing(outcome: unknown): boolean {
  return (outcome as { readonly reason: string }).reason === 'UNAVAILABLE'
}
