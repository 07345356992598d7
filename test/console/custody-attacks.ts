import { join } from 'node:path'
import { decodeJwt, importJWK, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { authorizerName } from '../../src/custody/authorizers/authorizer.js'
import { authorizerIdOf } from '../../src/custody/authorizers/certificate.js'
import { grantMessage } from '../../src/custody/authorizers/grant-statement.js'
import { parseUsd } from '../../src/domain/money.js'
import { loadLoginKeys } from '../../src/identity-provider/login/login-keys.js'
import { issuerOf } from '../custody/authorizer-client.js'
import { strangerKey } from '../custody/hostile.js'
import { chainView, erc20Transfer, newAddress } from '../e2e/chain.js'
import { finalOf, type Stack, transactionsOf } from '../e2e/stack.js'
import type { HttpClient } from '../support/http-client.js'

const BASE = 8453
const USD = 1_000_000n
const SENDS_MAX = 20

export interface Victim {
  readonly stack: Stack
  /** A user with a passkey, and what such a user's console and key can do. */
  readonly token: string
  readonly key: { readonly keyId: string; readonly secret: string }
  /** The request that made the key. */
  readonly wish: object
}

/** Cases of the custody suite that need the whole service: attacks through its front door. */
export function describeCustodyAttacks(victim: () => Promise<Victim>): void {
  test('22: a console token that the identity provider minted for itself enlarges nothing', async () => {
    const { stack, token, key, wish } = await victim()
    const { service } = stack
    const own = service.console(token)
    const forged = service.console(await mintedToken(service.home, subjectOf(token)))
    // The service takes it for the user's own: it is signed with the identity provider's key.
    expect((await forged.get('/keys')).json.keys).toEqual((await own.get('/keys')).json.keys)
    const before = (await service.api(key.secret).get('/api/limits')).json
    const patch = (body: object) => forged.call('PATCH', `/keys/${key.keyId}`, { body })
    for (const larger of [
      { daily_limit_usd: 'unlimited' },
      { monthly_limit_usd: '1000000' },
      { unpriced_assets: 'allow' },
    ]) {
      const refused = await patch(larger)
      expect(refused).toMatchObject({ status: 409, code: 'AUTHORIZATION_REQUIRED' })
      const details = refused.json.error?.details ?? {}
      const authorization_id = details.authorization_id
      // It left no proof with itself that the service would take …
      const left = await patch({ ...larger, authorization: { authorization_id } })
      expect(left).toMatchObject({ status: 409, code: 'AUTHORIZATION_REQUIRED' })
      // … nor can it sign one with a key of its own.
      const signer = strangerKey()
      const statement = Buffer.from(String(details.grant), 'base64url')
      const authorization = {
        authorization_id,
        authorizer_id: authorizerName(authorizerIdOf(Buffer.alloc(0), signer.publicKey)),
        signature: (await signer.sign(grantMessage(statement))).toString('base64url'),
      }
      const signed = await patch({ ...larger, authorization })
      expect(signed).toMatchObject({ status: 403, code: 'AUTHORIZATION_REFUSED' })
    }
    const another = await forged.post('/keys', wish)
    expect(another).toMatchObject({ status: 409, code: 'AUTHORIZATION_REQUIRED' })
    expect((await service.api(key.secret).get('/api/limits')).json).toEqual(before)
    // Rotation is the one thing a token alone can do, and gives nothing more.
    const rotated = await forged.post(`/keys/${key.keyId}/rotate`)
    const after = (await service.api(String(rotated.json.secret)).get('/api/limits')).json
    expect(after).toMatchObject({
      daily_limit_usd: before.daily_limit_usd,
      monthly_limit_usd: before.monthly_limit_usd,
    })
  })

  describe('18: with the identity provider down', () => {
    test('a send is refused, nothing is signed, its cap is released, reads go on', async () => {
      const { stack } = await victim()
      const { service, owner } = stack
      const api = service.api()
      const { key_id: keyId } = service.dev().keys.trade
      const send = () =>
        api.post('/api/tx/send', {
          chain_id: BASE,
          to: chainView(service.dev(), BASE).usdc,
          data: erc20Transfer(newAddress(), USD),
        })
      const first = await send()
      expect(first.status, first.text).toBe(200)
      const { nonce } = await finalOf(api, first.json.tx_id)
      const servicePid = service.dev().pids.service
      let signed = (await transactionsOf(owner, keyId)).length
      let last = Number(nonce)
      for (let attempt = 0; ; attempt++) {
        const used = await usedOf(api)
        const restarted = service.killAndAwaitRestart('identity_provider')
        const refused = await send()
        const limits = await api.get('/api/limits')
        expect(limits.status).toBe(200)
        if (refused.status === 503) {
          expect(refused.code).toBe('COSIGNER_UNAVAILABLE')
          expect(refused.headers.get('retry-after')).not.toBeNull()
          expect(limits.json.reserved_usd).toBe('0.00')
          expect(await usedOf(api)).toBe(used)
          expect(await transactionsOf(owner, keyId)).toHaveLength(signed)
          await restarted
          break
        }
        // It was back, or not yet gone, when the send came to it.
        expect(attempt).toBeLessThan(SENDS_MAX)
        last = Number((await finalOf(api, refused.json.tx_id)).nonce)
        signed++
        await restarted
      }
      // It comes back by itself, and the refused send has left no gap.
      await expect
        .poll(
          async () => {
            const again = await send()
            return again.status === 200 ? again.json.nonce : again.code
          },
          { timeout: 60_000 },
        )
        .toBe(last + 1)
      expect(service.dev().pids.service).toBe(servicePid)
    })
  })
}

async function usedOf(api: HttpClient): Promise<bigint | null> {
  return parseUsd(String((await api.get('/api/limits')).json.daily_used_usd))
}

function subjectOf(token: string): string {
  return String(decodeJwt(token).sub)
}

/** A token for whomever one likes, by the key that the identity provider signs them with. */
async function mintedToken(home: string, userId: string): Promise<string> {
  const [jwk] = loadLoginKeys(join(home, 'identity-provider')).signingJwks
  if (jwk === undefined) throw new Error('no login key')
  return new SignJWT({ scope: 'console' })
    .setProtectedHeader({ alg: 'ES256', kid: jwk.kid, typ: 'at+jwt' })
    .setIssuer(issuerOf(home))
    .setAudience('urn:countersign:console')
    .setSubject(userId)
    .setIssuedAt()
    .setExpirationTime('5 minutes')
    .sign(await importJWK(jwk, 'ES256'))
}
