import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { systemTimers } from '../../src/clock/timers.js'
import {
  identityProviderSocket,
  quorumSignerSocket,
  registryPath,
  serviceLayout,
} from '../../src/custody/domain-keys/layout.js'
import { readPrivateFile } from '../../src/custody/domain-keys/private-file.js'
import { readRegistryFile, readRootKey } from '../../src/custody/domain-keys/registry-file.js'
import { openShareStore, type ShareStore } from '../../src/custody/domain-keys/share-store.js'
import { ulidBytes } from '../../src/domain/ids.js'
import { coSignMessage, encodeHeader, laneStart, seqOf } from '../../src/quorum-protocol/batch.js'
import { expectBytes, expectList } from '../../src/quorum-protocol/bytes.js'
import { connectSocket, type SocketClient } from '../../src/quorum-protocol/client.js'
import type { Endpoint } from '../../src/quorum-protocol/endpoint.js'
import { encodeIntent, type Intent, intentId } from '../../src/quorum-protocol/intent.js'
import { INTENT_LIFETIME_MS_MAX } from '../../src/quorum-protocol/limits.js'
import { type P256Signer, p256SignerOf } from '../../src/quorum-protocol/p256.js'
import { encodePayload } from '../../src/quorum-protocol/payload.js'
import { offerSession, openBoot } from '../../src/quorum-protocol/quorum-session.js'
import { Refusal, type RefusalCode, refusalCode } from '../../src/quorum-protocol/refusal.js'
import { openRegistry, type RegistryEnvelope } from '../../src/quorum-protocol/registry.js'
import { createSealer, type ShareSealer } from '../../src/quorum-protocol/sealed-shares.js'
import { announceStart, type ServiceStart } from '../../src/quorum-protocol/service-boot.js'
import type { SignPayload } from '../../src/quorum-protocol/sign-payload.js'
import { lastServiceBoot } from '../../src/service-custody/service-boot-file.js'
import type { Quorum, ReadyWallet } from './harness.js'

/**
 * The wallet service gone bad: it has the co-signer key, the service's shares and both sockets,
 * and speaks the wire protocol as it likes.
 */
export interface HostileService {
  readonly userSide: SocketClient
  readonly quorum: SocketClient
  readonly signer: P256Signer
  readonly sealer: ShareSealer
  readonly shares: ShareStore
  /** Announces itself, with a registry that it passes on. */
  hello(envelope: RegistryEnvelope): Promise<unknown>
  /** The first batch sequence of a new lane; announces itself, as each connection has to. */
  nextSeq(): Promise<number>
  close(): Promise<void>
}

export interface Batch {
  readonly header: Buffer
  readonly intents: readonly Buffer[]
  readonly ids: readonly Buffer[]
  readonly coSignature: Buffer
}

export interface Approval {
  readonly bitmap: number
  readonly signature: Uint8Array
  /** Per intent: null when approved, or the code of its refusal. */
  readonly answers: readonly (RefusalCode | null)[]
  /** The user's shares of the approved intents, sealed. */
  readonly shares: Uint8Array
}

/**
 * Of a quorum of these tests, or of a whole running stack.
 * @param start that it announces itself as; default: the one that last ran there
 */
export async function becomeService(
  { home }: Pick<Quorum, 'home'>,
  start: ServiceStart = { boot: lastServiceBoot(home, systemTimers()), leadership: null },
): Promise<HostileService> {
  const layout = serviceLayout(home)
  const registry = openRegistry(readRegistryFile(registryPath(home)), readRootKey(layout.rootKey))
  const signer = p256SignerOf(createPrivateKey(readFileSync(layout.signingKey)))
  const userSide = await dial(identityProviderSocket(home))
  const signing = await dial(quorumSignerSocket(home))
  const statement = expectBytes(await signing.call('boot', []))
  const boot = openBoot(statement, registry, Date.now())
  const hello = async ({ body, signature }: RegistryEnvelope) => {
    const announcement = await announceStart(start, signer)
    return userSide.call('hello', [body, signature, 0, announcement])
  }
  await hello(registry.envelope)
  await signing.call('session', [await userSide.call('session', [statement])])
  const own = await offerSession(boot, 'service', signer)
  await signing.call('session', [own.offer])
  const shares = openShareStore('service', layout, [readPrivateFile(layout.wrappingKey)])
  return {
    hello,
    userSide,
    quorum: signing,
    signer,
    sealer: createSealer(own.session),
    shares,
    async nextSeq() {
      const [lane] = expectList(await hello(registry.envelope), 2)
      return laneStart(Number(lane)) + 1
    },
    async close() {
      userSide.close()
      signing.close()
      await shares.close()
    },
  }
}

export function dial(endpoint: string | Endpoint): Promise<SocketClient> {
  return new Promise((resolve) => {
    const client = connectSocket({
      endpoint: typeof endpoint === 'string' ? { path: endpoint } : endpoint,
      peer: 'peer',
      onConnect: () => resolve(client),
      onDisconnect: () => {},
    })
  })
}

/** Nearly the longest that an intent may live: a busy machine takes its time to judge it. */
const LIFE_MS = INTENT_LIFETIME_MS_MAX - 5_000

/** An honest intent for the first slot of a batch, changed as the attack wants it. */
export function intentFor(
  wallet: ReadyWallet,
  payload: SignPayload,
  batchSeq: number,
  change: Partial<Intent & { proofKey: Uint8Array | null; index: number }> = {},
): Buffer {
  const { type, bytes } = encodePayload(payload)
  const { proofKey, index, ...fields } = change
  return encodeIntent(
    {
      type,
      walletId: ulidBytes(wallet.walletId),
      keyId: ulidBytes(wallet.keyId),
      grantId: ulidBytes(wallet.keyId),
      grantVersion: 1,
      epoch: 1,
      seq: seqOf(batchSeq, index ?? 0),
      expiresAtMs: Date.now() + LIFE_MS,
      requestId: randomBytes(16),
      replaces: Buffer.alloc(32),
      approval: null,
      payload: bytes,
      ...fields,
    },
    proofKey === undefined ? wallet.proofKey : proofKey,
  )
}

export async function coSign(
  signer: P256Signer,
  batchSeq: number,
  intents: readonly Buffer[],
  kid: Uint8Array = signer.kid,
): Promise<Batch> {
  const ids = intents.map(intentId)
  const header = encodeHeader({ batchId: randomBytes(16), batchSeq, count: intents.length, kid })
  return { header, intents, ids, coSignature: await signer.sign(coSignMessage(header, ids)) }
}

/** @throws Refusal of the whole batch */
export async function approve(service: HostileService, batch: Batch): Promise<Approval> {
  const answer = await service.userSide.call('approve', [
    batch.header,
    batch.intents,
    batch.coSignature,
  ])
  const [bitmap, signature, , answers, shares] = expectList(answer, 5)
  return {
    bitmap: Number(bitmap),
    signature: expectBytes(signature, 64),
    answers: expectList(answers, 32).map((item) =>
      item === null ? null : refusalCode(expectList(item, 2)[0]),
    ),
    shares: expectBytes(shares),
  }
}

/**
 * The service's share of a wallet, once for each of these intents, sealed for them.
 * @param change what the attack makes of the share before
 */
export function sealOwn(
  service: HostileService,
  wallet: ReadyWallet,
  ids: readonly Uint8Array[],
  change: (share: Buffer) => void = () => {},
): Buffer {
  const record = service.shares.get(ulidBytes(wallet.walletId))
  if (record === null) throw new Error('no share')
  const share = service.shares.openShare(record)
  change(share)
  const shares = Buffer.concat(ids.map(() => share))
  const sealed = service.sealer.seal(shares, ids)
  share.fill(0)
  shares.fill(0)
  return sealed
}

/**
 * Hands a batch to the quorum signer.
 * @returns per intent a signature or the code of its refusal
 * @throws Refusal of the whole batch
 */
export async function sign(
  service: HostileService,
  batch: Batch,
  approval: { bitmap: number; signature: Uint8Array },
  userShares: unknown,
  serviceShares: unknown,
): Promise<(Uint8Array | RefusalCode)[]> {
  const answer = await service.quorum.call('sign', [
    batch.header,
    batch.intents,
    batch.coSignature,
    approval.bitmap,
    approval.signature,
    userShares,
    serviceShares,
  ])
  return expectList(answer, 32).map((item) =>
    item instanceof Uint8Array ? item : refusalCode(item),
  )
}

/** The code with which a call was refused; `none` when it was not. */
export async function refusalOf(call: Promise<unknown>): Promise<RefusalCode | 'none'> {
  try {
    await call
    return 'none'
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}

export function strangerKey(): P256Signer {
  return p256SignerOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
}

/** One intent through the user side: what it answers for it. */
export async function judged(
  service: HostileService,
  make: (batchSeq: number) => Buffer,
): Promise<RefusalCode | 'approved'> {
  const seq = await service.nextSeq()
  const batch = await coSign(service.signer, seq, [make(seq)])
  const { answers } = await approve(service, batch)
  return answers[0] ?? 'approved'
}
