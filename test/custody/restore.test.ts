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

function command(name: string, ...options: string[]): Promise<string> {
  return countersignOk(quorum.home, ['custody', name, ...options])
}
