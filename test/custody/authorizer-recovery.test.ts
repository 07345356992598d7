import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authorizerName } from '../../src/custody/authorizers/authorizer.js'
import {
  authorizerIdOf,
  certificateMessage,
  decodeCertificate,
} from '../../src/custody/authorizers/certificate.js'
import { grantMessage } from '../../src/custody/authorizers/grant-statement.js'
import { encodeRootApproval } from '../../src/custody/authorizers/recovery.js'
import { rootPrivateKeyPath } from '../../src/custody/domain-keys/layout.js'
import { approveAuthorizer } from '../../src/custody-tools/provisioning/approve-authorizer.js'
import {
  makeRegistryRoot,
  openRegistryRoot,
} from '../../src/custody-tools/provisioning/registry-root.js'
import type { SubWalletId } from '../../src/domain/ids.js'
import {
  type AuthorizerClient,
  connectAuthorizers,
  type KeyAuthorizer,
  type Passkey,
} from './authorizer-client.js'
import { countersign, countersignOk } from './command.js'
import { answered, askedOf, faultOf, keyProof, newGrant, passkeyProof } from './grants.js'
import { newWalletId, type Quorum, startQuorum, USER, WEBAUTHN } from './harness.js'
import { strangerKey } from './hostile.js'

const FILES = mkdtempSync(join(tmpdir(), 'cs-recovery-'))

let quorum: Quorum
let walletId: SubWalletId
let client: AuthorizerClient
let lost: Passkey
let fresh: KeyAuthorizer & { readonly request: string }

beforeAll(async () => {
  quorum = await startQuorum()
  walletId = newWalletId()
  await quorum.coSigner.createWallet(walletId, quorum.userId)
  client = await connectAuthorizers(quorum.home, USER, {
    rpId: WEBAUTHN.rp_id,
    origin: WEBAUTHN.origins[0] ?? '',
  })
  lost = await client.addPasskey()
  await quorum.coSigner.authorizersOf(quorum.userId)
  fresh = await requestOf('fresh.json')
})
afterAll(async () => {
  await quorum?.close()
  rmSync(FILES, { recursive: true, force: true })
})

describe('22: a user who lost every authorizer', () => {
  test('gets none by a sign-in alone, nor by any key but the root', async () => {
    const { certificate, signature } = read(fresh.request)
    const by = async (root_signature: string) =>
      client.call('recover', { certificate, signature, root_signature })
    const stranger = makeRegistryRoot(join(FILES, 'another-root'))
    const foreign = await approved(fresh.request, { rootPath: stranger.privateKey })
    const own = await strangerKey().sign(certificateMessage(Buffer.from(certificate, 'base64url')))
    for (const forged of [foreign.root_signature, own.toString('base64url'), signature]) {
      const { status, json } = await by(forged)
      expect([status, (json.error as { code: string }).code]).toEqual([403, 'NOT_CONFIRMED'])
    }
    const { root_signature } = await approved(fresh.request)
    const console = await client.call(
      'recover',
      { certificate, signature, root_signature },
      quorum.consoleToken,
    )
    expect(console.status).toBe(401)
  })

  test('gets no other key than the one that the root has signed', async () => {
    const other = await requestOf('other.json')
    const { root_signature } = await approved(fresh.request)
    const { certificate, signature } = read(other.request)
    expect((await client.call('recover', { certificate, signature, root_signature })).status).toBe(
      403,
    )
  })

  test('is asked for by name at the root, and whatever does not fit is named', async () => {
    const outPath = join(FILES, 'refused.json')
    const approving = (requestPath: string, userId = quorum.userId) =>
      approveAuthorizer({
        ...{ rootPath: rootPrivateKeyPath(quorum.home), requestPath, outPath, userId },
      })
    await expect(approving(fresh.request, 'user_mallory')).rejects.toThrow('not to user_mallory')
    const altered = (name: string, change: object) => {
      const path = join(FILES, name)
      writeFileSync(path, JSON.stringify({ ...read(fresh.request), ...change }))
      return path
    }
    const renamed = altered('renamed.json', { user_id: 'user_mallory' })
    await expect(approving(renamed, 'user_mallory')).rejects.toThrow('belongs to another user')
    const unsigned = altered('unsigned.json', { signature: 'A'.repeat(86) })
    await expect(approving(unsigned)).rejects.toThrow('has not signed its certificate')
    const cut = altered('cut.json', { certificate: 'QVdBMQ' })
    await expect(approving(cut)).rejects.toThrow('certificate is malformed')
    writeFileSync(join(FILES, 'text.json'), 'no')
    await expect(approving(join(FILES, 'text.json'))).rejects.toThrow('text.json is not JSON')
    const args = ['custody', 'approve-authorizer', '--root', join(FILES, 'none.pem')]
    const { code, stderr } = await countersign(quorum.home, [
      ...args,
      ...['--request', fresh.request, '--user', quorum.userId, '--out', outPath],
    ])
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining('none.pem')])
    expect(() => readFileSync(outPath)).toThrow('ENOENT')
  })

  test('has the root’s key at both domains; those that were lost confirm nothing', async () => {
    const out = join(FILES, 'approved.json')
    const root = rootPrivateKeyPath(quorum.home)
    await countersignOk(quorum.home, [
      ...['custody', 'approve-authorizer', '--root', root, '--request', fresh.request],
      ...['--user', quorum.userId, '--out', out],
    ])
    const { user_id: _user, ...recovery } = read(out)
    const done = await client.call('recover', recovery)
    expect(done).toMatchObject({
      status: 200,
      json: { authorizers: [{ authorizer_id: fresh.authorizerId }] },
    })
    expect((await client.call('recover', recovery)).status).toBe(409)
    const grant = newGrant(quorum, walletId)
    const asked = await askedOf(quorum, grant)
    const byLost = passkeyProof(lost.prove(asked.challenge), lost.authorizerId)
    const refused = await faultOf(quorum.coSigner.putGrant(answered(grant, asked, byLost)))
    expect(refused.code).toBe('AUTHORIZATION_REFUSED')
    const { signature } = await fresh.prove(asked.challenge, grantMessage(asked.statement))
    const byFresh = keyProof(fresh.authorizerId, signature)
    expect(await quorum.coSigner.putGrant(answered(grant, asked, byFresh))).toEqual({
      authorizedBy: 'p256',
    })
  })

  test('has a grant confirmed by an authorizer, never by the root itself', async () => {
    const grant = newGrant(quorum, walletId)
    const asked = await askedOf(quorum, grant)
    const root = openRegistryRoot(rootPrivateKeyPath(quorum.home))
    const proof = encodeRootApproval(await root.sign(grantMessage(asked.statement)))
    const { code } = await faultOf(quorum.coSigner.putGrant(answered(grant, asked, proof)))
    expect(code).not.toBe('none')
    const output = await countersignOk(quorum.home, ['verify-audit'])
    expect(output).toContain('✓ both logs are whole and agree')
  })
})

interface RequestFile {
  readonly user_id: string
  readonly certificate: string
  readonly signature: string
}

function read(path: string): RequestFile & { readonly root_signature?: string } {
  return JSON.parse(readFileSync(path, 'utf8')) as RequestFile
}

/** What `countersign authorizer recover --request` writes, for a key of the test's own. */
async function requestOf(name: string): Promise<KeyAuthorizer & { readonly request: string }> {
  const signer = strangerKey()
  const public_key = signer.publicKey.toString('base64url')
  const { json } = await client.call('begin', { kind: 'p256', label: 'new laptop', public_key })
  const certificate = Buffer.from(String(json.certificate), 'base64url')
  expect(decodeCertificate(certificate).sequence).toBe(2)
  const signature = (await signer.sign(certificateMessage(certificate))).toString('base64url')
  const request = join(FILES, name)
  const user_id = quorum.userId
  writeFileSync(request, JSON.stringify({ user_id, certificate: json.certificate, signature }))
  const authorizerId = authorizerName(authorizerIdOf(Buffer.alloc(0), signer.publicKey))
  const prove = async (_challenge: string, message: Uint8Array) => ({
    authorizer_id: authorizerId,
    signature: (await signer.sign(message)).toString('base64url'),
  })
  return { authorizerId, signer, prove, request }
}

/** Approved by this installation's root, or another key in its place. */
async function approved(requestPath: string, by: { readonly rootPath?: string } = {}) {
  const outPath = join(FILES, `approved-${Math.random().toString(36).slice(2)}.json`)
  const rootPath = by.rootPath ?? rootPrivateKeyPath(quorum.home)
  await approveAuthorizer({ rootPath, requestPath, outPath, userId: quorum.userId })
  const { root_signature = '' } = read(outPath)
  return { root_signature }
}
