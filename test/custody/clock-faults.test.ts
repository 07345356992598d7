import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../../bench/child-process.js'
import {
  issuerPort,
  type Quorum,
  READY_MS,
  type ReadyWallet,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
} from './harness.js'

describe('clocks that differ', () => {
  let quorum: Quorum
  let wallet: ReadyWallet
  const wrong: Child[] = []
  beforeAll(async () => {
    quorum = await startQuorum()
    wallet = await readyWallet(quorum)
  })
  afterAll(async () => {
    await Promise.all(wrong.map((child) => child.kill()))
    await quorum?.close()
  })

  test.each([
    [42_000, 'ahead of'],
    [-42_000, 'behind'],
  ])('are named, with how far: the identity provider’s by %i ms', async (aheadMs, apart) => {
    const port = issuerPort(quorum.home)
    await quorum.identityProvider.stop()
    const child = await startChild('dist/src/identity-provider/main.js', {
      COUNTERSIGN_HOME: quorum.home,
      IDENTITY_PORT: port,
      NODE_OPTIONS: `--import=${resolve('test/custody/fixtures-clock-ahead.mjs')}`,
      CLOCK_AHEAD_MS: String(aheadMs),
    })
    wrong.push(child)
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
    const told = async () => {
      const outcome = await quorum.coSigner.sign(requestOf(wallet, transfer(0)))
      expect(outcome).toMatchObject({ ok: false, reason: 'UNAVAILABLE' })
      return outcome.ok ? '' : outcome.explanation
    }
    // The answer's way is a part of it, which is long at times on a busy machine.
    const words = new RegExp(`identity provider's is 4[123]\\.\\d s ${apart} the service's`)
    await expect.poll(told).toMatch(words)

    await child.stop()
    quorum.identityProvider = await quorum.startIdentityProvider()
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
    await signed(quorum, requestOf(wallet, transfer(aheadMs > 0 ? 0 : 1)))
  })
})
