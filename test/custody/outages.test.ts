import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { grantedOf } from '../../src/domain/grant-terms.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import type { GrantUpdate } from '../../src/service-custody/co-signer.js'
import { killAmidChanges } from './change-kills.js'
import { countersignOk } from './command.js'
import {
  newWalletId,
  type Quorum,
  READY_MS,
  type ReadyWallet,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
} from './harness.js'

/** `npm run test:long -- change-kills` has more. */
const KILLS = Number(process.env.CHANGE_KILLS ?? 2)

/** A peer that does not answer is given up after five seconds. */
const HANGING_MS = 6_000

let quorum: Quorum
let wallet: ReadyWallet
let nonce = 0

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum)
})
afterAll(() => quorum?.close())

describe('an identity provider that is killed amid changes', () => {
  test('has each change of a grant or a freeze on record once, in its order', {
    timeout: 60_000 + KILLS * 10_000,
  }, async () => {
    expect(await killAmidChanges(quorum, KILLS)).toEqual([])
    expect(await countersignOk(quorum.home, ['verify-audit'])).toContain('both logs are whole')
  })
})

describe('when another domain is down', () => {
  test('18: nothing is signed and nothing hangs; signing comes back by itself', async () => {
    await signed(quorum, requestOf(wallet, transfer(nonce++)))
    await quorum.identityProvider.kill()
    await expectUnavailable()
    quorum.identityProvider = await quorum.startIdentityProvider()
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
    await signed(quorum, requestOf(wallet, transfer(nonce++)))
  })

  test('a restarted quorum signer gets new sessions by itself', async () => {
    await quorum.quorumSigner.kill()
    await expectUnavailable()
    quorum.quorumSigner = await quorum.startQuorumSigner()
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
    await signed(quorum, requestOf(wallet, transfer(nonce++)))
  })

  test('a death of the quorum signer in the middle of a burst jams no nonce', async () => {
    const killedAmidBurst = async () => {
      const first = nonce
      nonce += 200
      const requests = Array.from({ length: 200 }, (_, index) =>
        requestOf(wallet, transfer(first + index)),
      )
      const burst = Promise.all(requests.map((request) => quorum.coSigner.sign(request)))
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      await quorum.quorumSigner.kill()
      const outcomes = await burst
      quorum.quorumSigner = await quorum.startQuorumSigner()
      expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
      return { requests, outcomes }
    }
    const isUnhurt = (outcomes: readonly { readonly ok: boolean }[]) =>
      outcomes.every(({ ok }) => ok)
    let { requests, outcomes } = await killedAmidBurst()
    // Where this process paused before the kill, the burst may have been over.
    for (let tries = 1; isUnhurt(outcomes) && tries < 5; tries++) {
      ;({ requests, outcomes } = await killedAmidBurst())
    }
    expect(isUnhurt(outcomes)).toBe(false)
    // The same payloads once more, as the write path does after a crash: with no key at hand for
    // those that were approved, with the key for those that were not.
    for (const [index, request] of requests.entries()) {
      const outcome = outcomes[index]
      const again = await signed(quorum, request)
      if (outcome?.ok) expect(again.rawTransaction).toBe(outcome.rawTransaction)
    }
  })

  test('a wallet is not created, and is once the domain is back', async () => {
    await quorum.quorumSigner.kill()
    const walletId = newWalletId()
    await expect(quorum.coSigner.createWallet(walletId, quorum.userId)).rejects.toMatchObject({
      fault: { code: 'COSIGNER_UNAVAILABLE' },
    })
    quorum.quorumSigner = await quorum.startQuorumSigner()
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
    const { address } = await quorum.coSigner.createWallet(walletId, quorum.userId)
    expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/)
  })

  test('a grant is taken away while the quorum signer is down', async () => {
    const taken = await readyWallet(quorum)
    await quorum.quorumSigner.kill()
    await quorum.identityProvider.kill()
    quorum.identityProvider = await quorum.startIdentityProvider()
    const revocation: GrantUpdate = {
      ...grantedOf(INITIAL_POLICY),
      keyId: taken.keyId,
      rotatedFrom: null,
      walletId: taken.walletId,
      userId: quorum.userId,
      permission: 'trade',
      allowedChains: [1, 8453],
      proofKey: null,
      expiresAt: null,
      revoked: true,
      consoleToken: null,
      effect: 'narrows',
      authorization: null,
    }
    await vi.waitFor(() => quorum.coSigner.putGrant(revocation), { timeout: 60_000 })
    quorum.quorumSigner = await quorum.startQuorumSigner()
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
    expect(await quorum.coSigner.sign(requestOf(taken, transfer(0)))).toMatchObject({
      reason: 'REFUSED',
      detail: 'NOT_GRANTED',
    })
  })

  test('an identity provider with too little space approves nothing, and goes on with more', async () => {
    const restarted = async (env: Readonly<Record<string, string>>) => {
      await quorum.identityProvider.kill()
      quorum.identityProvider = await quorum.startIdentityProvider(env)
      expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
    }
    await restarted({ COUNTERSIGN_DISK_FREE_MIN_MIB: '1048576' })
    const request = requestOf(wallet, transfer(nonce++))
    expect(await quorum.coSigner.sign(request)).toMatchObject({
      ok: false,
      reason: 'UNAVAILABLE',
      detail: 'NO_SPACE',
    })
    await expect(quorum.coSigner.createWallet(newWalletId(), quorum.userId)).rejects.toMatchObject({
      fault: { code: 'COSIGNER_UNAVAILABLE' },
    })
    await restarted({})
    await signed(quorum, request)
  })

  test('the other domains end cleanly on SIGTERM', async () => {
    expect(await quorum.quorumSigner.stop()).toBe(0)
    expect(await quorum.identityProvider.stop()).toBe(0)
  })
})

async function expectUnavailable(): Promise<void> {
  let shortestMs = Number.POSITIVE_INFINITY
  // One may take longer since this process paused; not each of them.
  for (let tries = 0; tries < 3 && shortestMs >= HANGING_MS; tries++) {
    const startedAt = performance.now()
    const outcome = await quorum.coSigner.sign(requestOf(wallet, transfer(nonce++)))
    expect(outcome).toMatchObject({ ok: false, reason: 'UNAVAILABLE' })
    shortestMs = Math.min(shortestMs, performance.now() - startedAt)
  }
  expect(shortestMs).toBeLessThan(HANGING_MS)
  expect(quorum.coSigner.ready).toBe(false)
}
