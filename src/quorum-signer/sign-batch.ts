import type { KeyObject } from 'node:crypto'
import {
  approvalMessage,
  type BatchHeader,
  coSignMessage,
  decodeHeader,
  hasBit,
  seqOf,
} from '../quorum-protocol/batch.js'
import { expectBytes, expectList } from '../quorum-protocol/bytes.js'
import { decodeIntent, intentId, NO_REFERENCE } from '../quorum-protocol/intent.js'
import { BATCH_INTENTS_MAX, INTENT_LIFETIME_MS_MAX } from '../quorum-protocol/limits.js'
import { verifyP256 } from '../quorum-protocol/p256.js'
import { checkPins, decodePayload, signingHash } from '../quorum-protocol/payload.js'
import { codeOf, REFUSAL_CODES, Refusal } from '../quorum-protocol/refusal.js'
import type { Registry } from '../quorum-protocol/registry.js'
import { withShares } from './join-shares.js'
import type { QuorumSessions } from './sessions.js'

/** A batch as the service sends it: both approvals, and both shares of all approved intents. */
interface SignCall {
  readonly headerBytes: Uint8Array
  readonly header: BatchHeader
  readonly intents: readonly Uint8Array[]
  readonly coSignature: Uint8Array
  readonly bitmap: number
  readonly approval: Uint8Array
  readonly userShares: Uint8Array
  readonly serviceShares: Uint8Array
}

/**
 * Signs each intent that both domains approved.
 * @param parameters `[header, intents, coSignature, bitmap, approval, userShares, serviceShares]`
 * @returns per intent 65 bytes r ‖ s ‖ yParity, or a refusal number
 * @throws Refusal when the batch itself, or the purpose of its sealed shares, is not acceptable
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
  const answers = call.intents.map((): Buffer | number => REFUSAL_CODES.NOT_APPROVED)
  const approved = [...answers.keys()].filter((index) => hasBit(call.bitmap, index))
  // Everything is judged before any share is opened.
  const digests = approved.map((index) => {
    const digest = orRefusal(() => digestOf(index, call, registry, nowMs))
    if (typeof digest === 'number') answers[index] = digest
    return digest
  })
  if (digests.every((digest) => typeof digest === 'number')) return answers
  const halves = {
    user: call.userShares,
    service: call.serviceShares,
    ids: approved.map((index) => ids[index] ?? NO_REFERENCE),
  }
  withShares(halves, sessions, (signWith) => {
    approved.forEach((index, place) => {
      const digest = digests[place]
      if (digest instanceof Uint8Array) answers[index] = orRefusal(() => signWith(place, digest))
    })
  })
  return answers
}

/** A bad intent fails by itself: its exception becomes its answer. */
function orRefusal<T>(make: () => T): T | number {
  try {
    return make()
  } catch (error) {
    return REFUSAL_CODES[codeOf(error)]
  }
}

function parseCall(parameters: readonly unknown[]): SignCall {
  const headerBytes = expectBytes(parameters[0])
  const header = decodeHeader(headerBytes)
  const intents = expectList(parameters[1], BATCH_INTENTS_MAX).map((item) => expectBytes(item))
  const bitmap = parameters[3]
  if (
    typeof bitmap !== 'number' ||
    !Number.isInteger(bitmap) ||
    bitmap < 0 ||
    bitmap > 0xffffffff ||
    intents.length !== header.count
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
    userShares: expectBytes(parameters[5]),
    serviceShares: expectBytes(parameters[6]),
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

/**
 * Returns the digest to sign for an approved intent.
 * @throws Refusal when it must not be signed
 */
function digestOf(index: number, call: SignCall, registry: Registry, nowMs: number): Uint8Array {
  const intent = decodeIntent(call.intents[index] ?? NO_REFERENCE)
  if (intent.expiresAtMs <= nowMs || intent.expiresAtMs > nowMs + INTENT_LIFETIME_MS_MAX) {
    throw new Refusal('EXPIRED', 'intent')
  }
  if (intent.seq !== seqOf(call.header.batchSeq, index)) {
    throw new Refusal('REPLAYED', 'intent belongs to another batch')
  }
  const payload = decodePayload(intent.type, intent.payload)
  checkPins(payload, registry.chains)
  return signingHash(payload, intent.payload)
}
