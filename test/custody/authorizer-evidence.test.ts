import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { grantMessage, readGrantStatement } from '../../src/custody/authorizers/grant-statement.js'
import { decodeProof } from '../../src/custody/authorizers/proof.js'
import { serviceLayout, userSideLayout } from '../../src/custody/domain-keys/layout.js'
import {
  chainHash,
  EVIDENCE_HASH_BYTES,
  EVIDENCE_KIND,
} from '../../src/custody/evidence/stored-evidence.js'
import { connectAuthorizers } from './authorizer-client.js'
import { countersign } from './command.js'
import { answered, askedOf, keyProof, newGrant, passkeyProof } from './grants.js'
import { newWalletId, type Quorum, startQuorum, USER, WEBAUTHN } from './harness.js'

let quorum: Quorum
let copies = 0

beforeAll(async () => {
  quorum = await startQuorum()
  const walletId = newWalletId()
  await quorum.coSigner.createWallet(walletId, quorum.userId)
  await quorum.coSigner.putGrant(newGrant(quorum, walletId))
  const origin = WEBAUTHN.origins[0] ?? ''
  const client = await connectAuthorizers(quorum.home, USER, { rpId: WEBAUTHN.rp_id, origin })
  const passkey = await client.addPasskey()
  const key = await client.addKey((challenge) => passkey.prove(challenge))
  const byPasskey = newGrant(quorum, walletId)
  const asked = await askedOf(quorum, byPasskey)
  const proof = passkeyProof(passkey.prove(asked.challenge), passkey.authorizerId)
  await quorum.coSigner.putGrant(answered(byPasskey, asked, proof))
  const byKey = newGrant(quorum, walletId)
  const askedKey = await askedOf(quorum, byKey)
  const { signature } = await key.prove(askedKey.challenge, grantMessage(askedKey.statement))
  await quorum.coSigner.putGrant(answered(byKey, askedKey, keyProof(key.authorizerId, signature)))
  await quorum.coSigner.putGrant({ ...byKey, effect: 'narrows', dailyLimitMicros: 1n })
})
afterAll(() => quorum?.close())

describe('27: evidence of authorizers', () => {
  test('proves offline who confirmed each grant', async () => {
    const { code, output } = await audit(await forgedLogs((_kind, body) => body))
    expect(output).toContain('4 grant versions, 2 authorizer changes')
    expect(output).toContain('✓ both logs are whole and agree')
    expect(code).toBe(0)
  })

  test.each([
    ['software', 'has a proof that does not verify'],
    ['passkey', 'has a proof that does not verify'],
    ['p256', 'has a proof that does not verify'],
  ] as const)('names a flipped bit in a %s proof, hashes mended or not', async (kind, words) => {
    const logs = await forgedLogs((of, body) => {
      if (of !== EVIDENCE_KIND.grant) return body
      const { rest } = readGrantStatement(body)
      if (rest.length === 0 || decodeProof(rest).kind !== kind) return body
      return flipped(body, body.length - 5)
    })
    const { code, output } = await audit(logs)
    expect(output).toMatch(new RegExp(`✗ identity provider log: grant in entry \\d+ ${words}`))
    expect(code).toBe(1)
  })

  test('names a grant that was made larger than what was confirmed', async () => {
    const logs = await forgedLogs((kind, body) => {
      if (kind !== EVIDENCE_KIND.grant) return body
      const { statement, encoded } = readGrantStatement(body)
      // The last byte of the statement is the chain's: 8453 becomes 8452.
      return statement.revoked ? body : flipped(body, encoded.length - 1)
    })
    expect((await audit(logs)).output).toMatch(
      /grant in entry \d+ has a proof that does not verify/,
    )
  })

  test('names a proof that was taken out', async () => {
    const logs = await forgedLogs((kind, body) =>
      kind === EVIDENCE_KIND.grant ? Buffer.from(readGrantStatement(body).encoded) : body,
    )
    expect((await audit(logs)).output).toMatch(
      /grant in entry \d+ enlarges without the proof of an authorizer/,
    )
  })

  test('names an authorizer whose certificate, proof or approval was changed', async () => {
    for (const at of [60, 300, 700]) {
      const logs = await forgedLogs((kind, body) =>
        kind === EVIDENCE_KIND.authorizer ? flipped(body, Math.min(at, body.length - 70)) : body,
      )
      const { code, output } = await audit(logs)
      expect(output).toMatch(/authorizer in entry \d+ does not verify|entry \d+ is malformed/)
      expect(code).toBe(1)
    }
  })
})

interface Logs {
  readonly service: string
  readonly user: string
}

type Change = (kind: number, body: Buffer) => Buffer

function flipped(body: Buffer, at: number): Buffer {
  const out = Buffer.from(body)
  out[at] = (out[at] ?? 0) ^ 1
  return out
}

/** Copies of both logs with bodies changed and every hash made again: as whole as a forger can. */
async function forgedLogs(change: Change): Promise<Logs> {
  return {
    service: await forged(serviceLayout(quorum.home).evidence, change),
    user: await forged(userSideLayout(quorum.home).evidence, change),
  }
}

async function forged(path: string, change: Change): Promise<string> {
  const copy = join(quorum.home, `forged-${copies++}`)
  mkdirSync(copy)
  // Not the lock file: to open and close it here would release this process's own locks on it.
  copyFileSync(join(path, 'data.mdb'), join(copy, 'data.mdb'))
  const root = open({ path: copy, overlappingSync: false, maxDbs: 4 })
  const log = root.openDB<Buffer, [number, number]>({ name: '02-evidence', encoding: 'binary' })
  const heads = new Map<number, Buffer>()
  for (const { key, value } of [...log.getRange()]) {
    const [chain, index] = key
    const stamp = value.subarray(EVIDENCE_HASH_BYTES, EVIDENCE_HASH_BYTES + 9)
    const body = change(stamp[8] ?? 0, Buffer.from(value.subarray(EVIDENCE_HASH_BYTES + 9)))
    const content = Buffer.concat([stamp, body])
    const before = heads.get(chain) ?? Buffer.alloc(EVIDENCE_HASH_BYTES)
    const hash = chainHash(before, chain, index, content)
    heads.set(chain, hash)
    await log.put(key, Buffer.concat([hash, content]))
  }
  await root.close()
  return copy
}

async function audit(logs: Logs): Promise<{ code: number; output: string }> {
  const options = ['--service', logs.service, '--identity', logs.user]
  const { code, stdout, stderr } = await countersign(quorum.home, ['verify-audit', ...options])
  return { code, output: `${stdout}${stderr}` }
}
