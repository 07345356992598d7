import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  encodeFreezeStatement,
  type FreezeStatement,
  freezeMessage,
  subjectOfId,
} from '../../src/custody/authorizers/freeze-statement.js'
import { serviceLayout, userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { openEvidenceLog, openEvidenceReader } from '../../src/custody/evidence/evidence-log.js'
import {
  EVIDENCE_HASH_BYTES,
  EVIDENCE_KIND,
  type EvidenceKind,
  type StoredEvidence,
} from '../../src/custody/evidence/stored-evidence.js'
import type { FreezeScope } from '../../src/domain/freeze.js'
import { type LineageId, ulidBytes } from '../../src/domain/ids.js'
import { viewOf } from '../../src/quorum-protocol/bytes.js'
import { FREEZE_SCOPES } from '../../src/quorum-protocol/freeze-scopes.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import type { FrozenSubject, UnfreezeUpdate } from '../../src/service-custody/co-signer.js'
import { type AuthorizerClient, connectAuthorizers, type Passkey } from './authorizer-client.js'
import { countersignOk } from './command.js'
import { faultOf, passkeyProof } from './grants.js'
import {
  type Quorum,
  type ReadyWallet,
  ROUTER,
  readyWallet,
  requestOf,
  routerIntent,
  signed,
  startQuorum,
  transfer,
  USER,
  WEBAUTHN,
} from './harness.js'
import { becomeService, type HostileService, intentFor, judged, refusalOf } from './hostile.js'

const PASSKEYS = { rpId: WEBAUTHN.rp_id, origin: WEBAUTHN.origins[0] ?? '' }
const MINUTE_MS = 60_000
const WAIT = { timeout: 30_000, interval: 100 }

let quorum: Quorum
let service: HostileService
let frozen: ReadyWallet
let other: ReadyWallet
let client: AuthorizerClient
let passkey: Passkey
let nonce = 1_000

beforeAll(async () => {
  quorum = await startQuorum()
  frozen = await readyWallet(quorum)
  other = await readyWallet(quorum)
  client = await connectAuthorizers(quorum.home, USER, PASSKEYS)
  passkey = await client.addPasskey()
  service = await becomeService(quorum)
})
afterAll(async () => {
  await service?.close()
  await quorum?.close()
})

function subjectOf(scope: FreezeScope, wallet: ReadyWallet): FrozenSubject {
  return {
    scope,
    userId: quorum.userId,
    walletId: scope === 'wallet' ? wallet.walletId : null,
    lineageId: scope === 'key' ? (wallet.keyId as string as LineageId) : null,
  }
}

function wireOf({ scope, walletId, lineageId, userId }: FrozenSubject) {
  const id = walletId ?? lineageId
  const subject = id === null ? sha256(Buffer.from(userId)) : subjectOfId(ulidBytes(id))
  return [FREEZE_SCOPES[scope], subject] as const
}

function judgedCall(wallet: ReadyWallet, change = {}) {
  return judged(service, (seq) => intentFor(wallet, transfer(nonce++), seq, change))
}

/** Lifts it as the user would: asked, confirmed by the passkey, repeated. */
async function lift(subject: FrozenSubject): Promise<void> {
  const update: UnfreezeUpdate = {
    ...subject,
    consoleToken: quorum.consoleToken,
    authorization: null,
  }
  const { code, details } = await faultOf(quorum.coSigner.unfreeze(update))
  expect(code).toBe('AUTHORIZATION_REQUIRED')
  const proof = passkeyProof(passkey.prove(String(details.challenge)), passkey.authorizerId)
  const version = Number(details.grant_version)
  const confirmBeforeMs = Date.parse(String(details.confirm_before))
  const authorization = { version, confirmBeforeMs, proof }
  const lifted = await quorum.coSigner.unfreeze({ ...update, authorization })
  expect(lifted).toEqual({ authorizedBy: 'passkey' })
}

/** That the wallet's freeze is to be lifted, by its user's passkey. */
function proofOf(subject: Buffer, sequence: number, confirmBeforeMs: number): Uint8Array {
  const statement: FreezeStatement = {
    ...{ action: 'unfreeze', scope: 'wallet', subject },
    ...{ ownerHash: sha256(Buffer.from(quorum.userId)), sequence, confirmBeforeMs },
  }
  const challenge = sha256(freezeMessage(encodeFreezeStatement(statement))).toString('base64url')
  return passkeyProof(passkey.prove(challenge), passkey.authorizerId)
}

describe('what the identity provider has frozen', () => {
  test.each(['key', 'wallet', 'user'] as const)(
    'gets no half of a signature, whatever the service asks for: a %s',
    async (scope) => {
      const subject = subjectOf(scope, frozen)
      await quorum.coSigner.freeze(subject)
      expect(await judgedCall(frozen)).toBe('FROZEN')
      const intent = {
        type: 'router-intent',
        chainId: 8453,
        verifyingContract: ROUTER,
        intent: routerIntent(frozen.address),
      } as const
      expect(await judged(service, (seq) => intentFor(frozen, intent, seq))).toBe('FROZEN')
      expect(await judgedCall(other)).toBe(scope === 'user' ? 'FROZEN' : 'approved')
      const outcome = await quorum.coSigner.sign(requestOf(frozen, transfer(nonce++)))
      expect(outcome).toMatchObject({ ok: false, reason: 'FROZEN', frozen: { scope } })
      await lift(subject)
      await signed(quorum, requestOf(frozen, transfer(nonce++)))
    },
  )

  test('lets replacements of what was approved go on, and no new nonce by their guise', async () => {
    const first = await signed(quorum, requestOf(frozen, transfer(5)))
    const subject = subjectOf('wallet', frozen)
    await quorum.coSigner.freeze(subject)
    const bumped = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 2_000_000_000n }
    const replacing = { proofKey: null, replaces: first.intentId }
    const bump = await signed(quorum, requestOf(frozen, transfer(5, bumped), replacing))
    const selfSend = { to: frozen.address, value: 0n, maxFeePerGas: 3_300_000_000n }
    const cancelling = { proofKey: null, replaces: bump.intentId }
    await signed(quorum, requestOf(frozen, transfer(5, selfSend), cancelling))
    const other = transfer(5, { value: 7n, maxFeePerGas: 9_000_000_000n })
    const swapped = await quorum.coSigner.sign(
      requestOf(frozen, other, { replaces: bump.intentId }),
    )
    expect(swapped.ok).toBe(false)
    const fresh = requestOf(frozen, transfer(6, selfSend), { proofKey: null })
    expect(await quorum.coSigner.sign(fresh)).toMatchObject({ reason: 'FROZEN' })
    await lift(subject)
  })

  test('is not lifted by the service alone, nor by a console token, nor by an old proof', async () => {
    const subject = subjectOf('wallet', frozen)
    await quorum.coSigner.freeze(subject)
    const [scope, id] = wireOf(subject)
    const { userId, consoleToken } = quorum
    const lifting = (token: string, proof: Uint8Array | null, until: number) =>
      refusalOf(service.userSide.call('freeze-lift', [scope, id, userId, token, proof, until]))
    const until = Date.now() + MINUTE_MS
    expect(await lifting('', null, 0)).toBe('NOT_GRANTED')
    expect(await lifting(consoleToken, null, 0)).toBe('NOT_CONFIRMED')
    const [present] = (await service.userSide.call('freeze-get', [scope, id])) as [number]
    expect(await lifting(consoleToken, proofOf(id, present - 1, until), until)).toBe(
      'NOT_CONFIRMED',
    )
    expect(await lifting('', proofOf(id, present + 1, until), until)).toBe('NOT_GRANTED')
    expect(await judgedCall(frozen)).toBe('FROZEN')
    for (const method of ['freeze-delete', 'unfreeze', 'freeze-set']) {
      expect(await refusalOf(service.userSide.call(method, [scope, id, userId]))).toBe('MALFORMED')
    }
    expect(await judgedCall(frozen)).toBe('FROZEN')
  })

  test('makes a lifting void that comes after it was frozen again, and is frozen since then', async () => {
    const subject = subjectOf('wallet', frozen)
    await quorum.coSigner.freeze(subject)
    const [scope, id] = wireOf(subject)
    const { userId, consoleToken } = quorum
    const present = async () =>
      (await service.userSide.call('freeze-get', [scope, id])) as [number, number]
    const [sequence, sinceMs] = await present()
    const until = Date.now() + MINUTE_MS
    const proof = proofOf(id, sequence + 1, until)
    // The service gave the lifting up, and says so, before it comes.
    await quorum.coSigner.freeze(subject)
    expect(await present()).toEqual([sequence + 1, sinceMs])
    const lifting = [scope, id, userId, consoleToken, proof, until]
    expect(await refusalOf(service.userSide.call('freeze-lift', lifting))).toBe('NOT_CONFIRMED')
    const told = service.userSide.call('freeze-lift', [...lifting, sequence + 1])
    expect(await refusalOf(told)).toBe('STALE_GRANT')
    expect(await judgedCall(frozen)).toBe('FROZEN')
  })

  test('stays frozen across a kill of the identity provider', async () => {
    await quorum.identityProvider.kill()
    quorum.identityProvider = await quorum.startIdentityProvider()
    await quorum.coSigner.close()
    await quorum.connect()
    await service.close()
    service = await becomeService(quorum)
    expect(await judgedCall(frozen)).toBe('FROZEN')
    expect(await judgedCall(other)).toBe('approved')
    await lift(subjectOf('wallet', frozen))
  })

  test("is its owner's own: nothing of another user is frozen or lifted", async () => {
    for (const scope of ['wallet', 'key', 'user'] as const) {
      const [number, id] = wireOf(subjectOf(scope, frozen))
      const put = service.userSide.call('freeze-put', [number, id, 'somebody else'])
      expect(await refusalOf(put)).toBe('NOT_GRANTED')
    }
    expect(await judgedCall(frozen)).toBe('approved')
  })
})

describe('an identity provider that was restored from a backup of before a freeze', () => {
  test('learns of it from the evidence, and of its end from its own alone', async () => {
    const { home } = quorum
    const backup = join(home, 'backup')
    await countersignOk(home, ['custody', 'backup', '--domain', 'user', '--to', backup])
    await quorum.coSigner.freeze(subjectOf('wallet', frozen))
    await quorum.coSigner.freeze(subjectOf('key', other))
    await lift(subjectOf('key', other))
    await quorum.identityProvider.stop()
    rmSync(userSideLayout(home).evidence, { recursive: true })
    await countersignOk(home, ['custody', 'restore', '--domain', 'user', '--from', backup])
    // As of two nodes that owned a journal in turn: the one has not what the other one has.
    const logs = await halves(serviceLayout(home).evidence, home)
    const fenced = ['custody', 'fence', '--service-log', ...logs, '--json']
    expect(JSON.parse(await countersignOk(home, fenced))).toMatchObject({ freezes: 3 })
    quorum.identityProvider = await quorum.startIdentityProvider()
    await service.close()
    service = await becomeService(quorum)
    expect(await judgedCall(frozen)).toBe('FROZEN')
    // Its own log was lost with the disk: that it was lifted is the service's word alone.
    expect(await judgedCall(other)).toBe('FROZEN')
    await quorum.coSigner.close()
    await quorum.connect()
    await lift(subjectOf('wallet', frozen))
    await lift(subjectOf('key', other))
    expect(await countersignOk(home, ['verify-audit'])).toContain('both logs are whole')
  })
})

/** A log of the first of what another one has, and one of all the rest. */
async function halves(log: string, directory: string): Promise<readonly string[]> {
  const reader = openEvidenceReader(log)
  const entries = [...reader.entries()]
  await reader.close()
  const freezes = entries.filter(({ bytes }) => kindOf(bytes) === EVIDENCE_KIND.freeze)
  const between = entries.indexOf(freezes.at(-2) as StoredEvidence)
  const parts = [entries.slice(0, between), entries.slice(between)]
  return Promise.all(
    parts.map(async (part, index) => {
      const path = join(directory, `half ${index}`)
      const half = openEvidenceLog(path, 0, () => {})
      for (const { bytes } of part) {
        const timeMs = Number(viewOf(bytes).readBigUInt64BE(EVIDENCE_HASH_BYTES))
        const body = bytes.subarray(EVIDENCE_HASH_BYTES + 9)
        await half.append({ timeMs, kind: kindOf(bytes), body })
      }
      await half.close()
      return path
    }),
  )
}

const kindOf = (bytes: Uint8Array) => bytes[EVIDENCE_HASH_BYTES + 8] as EvidenceKind

describe('a domain that its operator has frozen', () => {
  test('gives no half of anything new, until its operator lifts it', async () => {
    const command = (name: string) =>
      countersignOk(quorum.home, ['custody', name, '--domain', 'user', '--json'])
    expect(JSON.parse(await command('freeze'))).toMatchObject({ domain: 'user', frozen: true })
    await vi.waitFor(async () => expect(await judgedCall(other)).toBe('FROZEN'), WAIT)
    expect(await judgedCall(frozen)).toBe('FROZEN')
    await command('unfreeze')
    await vi.waitFor(async () => expect(await judgedCall(other)).toBe('approved'), WAIT)
  })
})
