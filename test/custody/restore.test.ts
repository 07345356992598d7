import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { grantMessage } from '../../src/custody/authorizers/grant-statement.js'
import { serviceLayout, userSideLayout } from '../../src/custody/domain-keys/layout.js'
import type { GrantUpdate } from '../../src/service-custody/co-signer.js'
import { connectAuthorizers } from './authorizer-client.js'
import { countersignOk } from './command.js'
import { answered, askedOf, faultOf, keyProof, newGrant } from './grants.js'
import {
  type Quorum,
  READY_MS,
  type ReadyWallet,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
  USER,
  WEBAUTHN,
} from './harness.js'

let quorum: Quorum
let wallet: ReadyWallet

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum)
})
afterAll(() => quorum?.close())

describe('28: a user side that was restored from an older backup', () => {
  test('approves nothing until it is fenced, and then no taken nonce again', async () => {
    await signed(quorum, requestOf(wallet, transfer(0)))
    const backup = join(quorum.home, 'backup')
    await command('backup', '--domain', 'user', '--to', backup)
    const later = await signed(quorum, requestOf(wallet, transfer(1)))

    await quorum.identityProvider.stop()
    const restored = await command('restore', '--domain', 'user', '--from', backup, '--json')
    expect(JSON.parse(restored)).toEqual({ domain: 'user', wallets: 1 })
    await expect(quorum.startIdentityProvider()).rejects.toThrow(
      /unfenced\.json: restored from a backup; run custody fence/,
    )
    expect(await quorum.coSigner.sign(requestOf(wallet, transfer(2)))).toMatchObject({
      reason: 'UNAVAILABLE',
    })

    await command('fence', '--service-log', serviceLayout(quorum.home).evidence)
    quorum.identityProvider = await quorum.startIdentityProvider()
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
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
  test('signs no taken nonce again, keeps its evidence, and says what it lost', async () => {
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

describe('28: a user side that lost its disk and was restored from an older backup', () => {
  test('learns what was taken back and who may confirm; what S alone says enlarges nothing', async () => {
    const [revoked, narrowed, raised] = await Promise.all([
      readyWallet(quorum),
      readyWallet(quorum),
      readyWallet(quorum, [8453]),
    ])
    const backup = join(quorum.home, 'backup-keys')
    await command('backup', '--domain', 'user', '--to', backup)
    const change = (of: ReadyWallet, what: Partial<GrantUpdate>) =>
      quorum.coSigner.putGrant(
        newGrant(quorum, of.walletId, {
          ...{ keyId: of.keyId, proofKey: null, allowedChains: [1, 8453] },
          ...{ dailyLimitMicros: null, monthlyLimitMicros: null, effect: 'narrows' as const },
          ...what,
        }),
      )
    await change(revoked, { revoked: true, consoleToken: null })
    await change(narrowed, { allowedChains: [8453], consoleToken: null })
    await change(raised, { effect: 'enlarges' })
    await signed(quorum, requestOf(raised, transfer(0, { chainId: 1 })))
    const client = await connectAuthorizers(quorum.home, USER, {
      rpId: WEBAUTHN.rp_id,
      origin: WEBAUTHN.origins[0] ?? '',
    })
    const own = await client.addKey()
    await quorum.coSigner.authorizersOf(quorum.userId)
    const late = await client.addKey((challenge, message) => own.prove(challenge, message))

    await quorum.identityProvider.stop()
    rmSync(userSideLayout(quorum.home).evidence, { recursive: true })
    await command('restore', '--domain', 'user', '--from', backup)
    const log = serviceLayout(quorum.home).evidence
    const fenced = JSON.parse(await command('fence', '--service-log', log, '--json'))
    expect(fenced).toMatchObject({
      ...{ revocations: 1, changes: 1, unconfirmed: 1, authorizers: 1, unknownKeys: 0 },
    })
    quorum.identityProvider = await quorum.startIdentityProvider()
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)

    const notGranted = { reason: 'REFUSED', detail: 'NOT_GRANTED' }
    const signing = (of: ReadyWallet, nonce: number, chainId: number) =>
      quorum.coSigner.sign(requestOf(of, transfer(nonce, { chainId })))
    expect(await signing(revoked, 0, 8453)).toMatchObject(notGranted)
    expect(await signing(narrowed, 0, 1)).toMatchObject(notGranted)
    expect(await signing(narrowed, 0, 8453)).toMatchObject({ ok: true })
    expect(await signing(raised, 1, 1)).toMatchObject(notGranted)
    expect(await signing(raised, 0, 8453)).toMatchObject({ ok: true })
    // The authorizer that the service knew confirms again; the one it never heard of is forgotten.
    const grant = newGrant(quorum, raised.walletId)
    const asked = await askedOf(quorum, grant)
    for (const [by, authorizedBy] of [
      [late, null],
      [own, 'p256'],
    ] as const) {
      const { signature } = await by.prove(asked.challenge, grantMessage(asked.statement))
      const putting = quorum.coSigner.putGrant(
        answered(grant, asked, keyProof(by.authorizerId, signature)),
      )
      if (authorizedBy === null) expect((await faultOf(putting)).code).toBe('AUTHORIZATION_REFUSED')
      else expect(await putting).toEqual({ authorizedBy })
    }
  })
})

function command(name: string, ...options: string[]): Promise<string> {
  return countersignOk(quorum.home, ['custody', name, ...options])
}
