import type { KeyObject } from 'node:crypto'
import {
  approvalMessage,
  type BatchHeader,
  coSignMessage,
  decodeHeader,
  hasBit,
  seqOf,
} from '../custody/protocol/batch.js'
import { expectBytes, expectList } from '../custody/protocol/bytes.js'
import { addInto, signDigest } from '../custody/protocol/curve.js'
import { decodeIntent, intentId } from '../custody/protocol/intent.js'
import { BATCH_INTENTS_MAX, INTENT_LIFETIME_MS_MAX } from '../custody/protocol/limits.js'
import { verifyP256 } from '../custody/protocol/p256.js'
import { checkPins, decodePayload, signingHash } from '../custody/protocol/payload.js'
import { codeOf, REFUSAL_CODES, Refusal } from '../custody/protocol/refusal.js'
import type { Registry } from '../custody/protocol/registry.js'
import type { QuorumSessions } from './sessions.js'

/** A batch as the service hands it over: both approvals, and both shares of each approved intent. */
interface SignCall {
  readonly headerBytes: Uint8Array
  readonly header: BatchHeader
  readonly intents: readonly Uint8Array[]
  readonly coSignature: Uint8Array
  readonly bitmap: number
  readonly approval: Uint8Array
  readonly userShares: readonly unknown[]
  readonly serviceShares: readonly unknown[]
}

/**
 * Signs each intent that both sides approved.
 * @param parameters `[header, intents, coSignature, bitmap, approval, userShares, serviceShares]`
 * @returns per intent 65 bytes r ‖ s ‖ yParity, or a refusal number
 * @throws Refusal when the batch itself is not acceptable
 */
export function signBatch(
  parameters: readonly unknown[],
  sessions: QuorumSessions,
  registry: Registry,
  nowMs: number,
): (Buffer | number)[] {
  const call = parseCall(parameters)
  const ids = call.intents.map(intentId)
  checkApprovals(call, ids, sessions.boot.boot, registry, nowMs)
  return call.intents.map((encoded, index) => {
    // One bad intent costs only itself: whatever is thrown becomes its answer.
    try {
      if (!hasBit(call.bitmap, index)) throw new Refusal('NOT_APPROVED', 'bit not set')
      return signIntent(
        encoded,
        ids[index] ?? Buffer.alloc(0),
        index,
        call,
        sessions,
        registry,
        nowMs,
      )
    } catch (error) {
      return REFUSAL_CODES[codeOf(error)]
    }
  })
}

function parseCall(parameters: readonly unknown[]): SignCall {
  const headerBytes = expectBytes(parameters[0])
  const header = decodeHeader(headerBytes)
  const intents = expectList(parameters[1], BATCH_INTENTS_MAX).map((item) => expectBytes(item))
  const bitmap = parameters[3]
  const userShares = expectList(parameters[5], BATCH_INTENTS_MAX)
  const serviceShares = expectList(parameters[6], BATCH_INTENTS_MAX)
  if (
    typeof bitmap !== 'number' ||
    !Number.isInteger(bitmap) ||
    bitmap < 0 ||
    bitmap > 0xffffffff ||
    intents.length !== header.count ||
    userShares.length !== header.count ||
    serviceShares.length !== header.count
  ) {
    throw new Refusal('MALFORMED', 'batch parts do not fit together')
  }
  return {
    headerBytes,
    header,
    intents,
    coSignature: expectBytes(parameters[2], 64),
    bitmap,
    approval: expectBytes(parameters[4], 64),
    userShares,
    serviceShares,
  }
}

function checkApprovals(
  call: SignCall,
  ids: readonly Uint8Array[],
  boot: Uint8Array,
  registry: Registry,
  nowMs: number,
): void {
  const coSigner = registry.keyById('co_signers', call.header.kid, nowMs)
  if (coSigner === null) throw new Refusal('UNAUTHENTIC', 'co-signer key not in the registry')
  const coSigned = coSignMessage(call.headerBytes, ids)
  if (!verifyP256(coSigner, coSigned, call.coSignature)) {
    throw new Refusal('UNAUTHENTIC', 'co-signature')
  }
  const approved = approvalMessage(coSigned, call.bitmap, boot)
  const verifies = (key: KeyObject) => verifyP256(key, approved, call.approval)
  if (!registry.keysOf('approvers', nowMs).some(verifies)) {
    throw new Refusal('UNAUTHENTIC', 'approval')
  }
}

function signIntent(
  encoded: Uint8Array,
  id: Uint8Array,
  index: number,
  call: SignCall,
  sessions: QuorumSessions,
  registry: Registry,
  nowMs: number,
): Buffer {
  const intent = decodeIntent(encoded)
  if (intent.expiresAtMs <= nowMs || intent.expiresAtMs > nowMs + INTENT_LIFETIME_MS_MAX) {
    throw new Refusal('EXPIRED', 'intent')
  }
  if (intent.seq !== seqOf(call.header.batchSeq, index)) {
    throw new Refusal('REPLAYED', 'intent belongs to another batch')
  }
  const payload = decodePayload(intent.type, intent.payload)
  checkPins(payload, registry.chains)
  const digest = signingHash(payload, intent.payload)
  const binding = { id, epoch: intent.epoch, boot: sessions.boot.boot }
  return signWithShares(
    digest,
    () => sessions.open('user', expectBytes(call.userShares[index]), binding),
    () => sessions.open('service', expectBytes(call.serviceShares[index]), binding),
  )
}

/**
 * The only place where a wallet key exists: both shares are opened, added in place, used once and
 * wiped, whatever happens.
 */
export function signWithShares(
  digest: Uint8Array,
  openUserShare: () => Buffer,
  openServiceShare: () => Buffer,
): Buffer {
  let key: Buffer | undefined
  let other: Buffer | undefined
  try {
    key = openUserShare()
    other = openServiceShare()
    addInto(key, other)
    return signDigest(digest, key)
  } finally {
    key?.fill(0)
    other?.fill(0)
  }
}
