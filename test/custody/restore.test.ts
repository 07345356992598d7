import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serviceLayout } from '../../src/custody/domain-keys/layout.js'
import { countersignOk } from './command.js'
import {
  type Quorum,
  type ReadyWallet,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
} from './harness.js'

let quorum: Quorum
let wallet: ReadyWallet

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum)
}, 30_000)
afterAll(() => quorum?.close())

describe('28: a user side that was restored from an older backup', () => {
  test('approves nothing until it is fenced, and then no taken nonce anew', async () => {
    await signed(quorum, requestOf(wallet, transfer(0)))
    const backup = join(quorum.home, 'backup')
    await command('backup', '--domain', 'user', '--to', backup)
    const later = await signed(quorum, requestOf(wallet, transfer(1)))

    await quorum.identityProvider.stop()
    const restored = await command('restore', '--domain', 'user', '--from', backup, '--json')
    expect(JSON.parse(restored)).toEqual({ domain: 'user', wallets: 1 })
    quorum.identityProvider = await quorum.startIdentityProvider()
    expect(await quorum.coSigner.whenReady(1_500)).toBe(false)
    expect(await quorum.coSigner.sign(requestOf(wallet, transfer(2)))).toMatchObject({
      reason: 'UNAVAILABLE',
    })

    await quorum.identityProvider.stop()
    const log = serviceLayout(quorum.home).evidence
    await command('fence', '--service-log', log)
    quorum.identityProvider = await quorum.startIdentityProvider()
    expect(await quorum.coSigner.whenReady(10_000)).toBe(true)
    const other = requestOf(wallet, transfer(1, { value: 77n }))
    const taken = await quorum.coSigner.sign(other)
    expect(taken).toMatchObject({ ok: false, reason: 'NONCE_TAKEN' })
    expect(Buffer.from((taken.ok ? undefined : taken.takenBy) ?? '')).toEqual(
      Buffer.from(later.intentId),
    )
    await signed(quorum, requestOf(wallet, transfer(2)))
  })
})

describe('28: a service that was restored from an older backup', () => {
  test('signs no taken nonce anew, keeps its evidence, and says what it lost', async () => {
    const backup = join(quorum.home, 'backup-service')
    await command('backup', '--domain', 'service', '--to', backup)
    const later = await readyWallet(quorum)
    await signed(quorum, requestOf(wallet, transfer(3)))

    await quorum.coSigner.close()
    await command('restore', '--domain', 'service', '--from', backup)
    await quorum.connect()
    const taken = await quorum.coSigner.sign(requestOf(wallet, transfer(3, { value: 77n })))
    expect(taken).toMatchObject({ ok: false, reason: 'NONCE_TAKEN' })
    await signed(quorum, requestOf(wallet, transfer(4)))
    // Its share of a wallet made since is gone: nothing else takes its place.
    expect(await quorum.coSigner.sign(requestOf(later, transfer(0)))).toMatchObject({
      reason: 'REFUSED',
      detail: 'UNKNOWN_WALLET',
    })
    await expect(quorum.coSigner.createWallet(later.walletId, quorum.userId)).rejects.toThrow()
    expect(await countersignOk(quorum.home, ['verify-audit'])).toContain('both logs are whole')
  })
})

function command(name: string, ...options: string[]): Promise<string> {
  return countersignOk(quorum.home, ['custody', name, ...options])
}
