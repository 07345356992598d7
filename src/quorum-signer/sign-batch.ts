import type { KeyObject } from 'node:crypto'
import {
  approvalMessage,
  type BatchHeader,
  coSignMessage,
  decodeHeader,
  hasBit,
  seqOf,
} from '../quorum-protocol/batch.js'
import { decodeIntent, intentId, NO_REFERENCE } from '../quorum-protocol/intent.js'
import { INTENT_LIFETIME_MS_MAX } from '../quorum-protocol/limits.js'
import type { ApprovedBatch } from '../quorum-protocol/methods/quorum-signer.js'
import { verifyP256 } from '../quorum-protocol/p256.js'
import { checkPins, decodePayload, signingHash } from '../quorum-protocol/payload.js'
import { codeOf, REFUSAL_CODES, Refusal } from '../quorum-protocol/refusal.js'
import type { Registry } from '../quorum-protocol/registry.js'
import { withShares } from './join-shares.js'
import type { QuorumSessions } from './sessions.js'

/**
 * Signs each intent that both domains approved.
 * @returns per intent 65 bytes r ‖ s ‖ yParity, or a refusal number
 * @throws Refusal when the batch itself, or the purpose of its sealed shares, is not acceptable
 */
export function signBatch(
  batch: ApprovedBatch,
  sessions: QuorumSessions,
  registry: Registry,
  nowMs: number,
): (Buffer | number)[] {
  const header = decodeHeader(batch.header)
  if (batch.intents.length !== header.count) {
    throw new Refusal('MALFORMED', 'batch parts do not fit together')
  }
  const ids = batch.intents.map(intentId)
  checkApprovals(batch, header, ids, sessions.boot.boot, registry, nowMs)
  const answers = batch.intents.map((): Buffer | number => REFUSAL_CODES.NOT_APPROVED)
  const approved = [...answers.keys()].filter((index) => hasBit(batch.bitmap, index))
  // Everything is judged before any share is opened.
  const digests = approved.map((index) => {
    const digest = orRefusal(() =>
      digestOf(
        batch.intents[index] ?? NO_REFERENCE,
        seqOf(header.batchSeq, index),
        registry,
        nowMs,
      ),
    )
    if (typeof digest === 'number') answers[index] = digest
    return digest
  })
  if (digests.every((digest) => typeof digest === 'number')) return answers
  const halves = {
    user: batch.userShares,
    service: batch.serviceShares,
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

function checkApprovals(
  batch: ApprovedBatch,
  { kid }: BatchHeader,
  ids: readonly Uint8Array[],
  boot: Uint8Array,
  registry: Registry,
  nowMs: number,
): void {
  const coSigner = registry.keyById('co_signers', kid, nowMs)
  if (coSigner === null) throw new Refusal('UNAUTHENTIC', 'co-signer key not in the registry')
  const coSigned = coSignMessage(batch.header, ids)
  if (!verifyP256(coSigner, coSigned, batch.coSignature)) {
    throw new Refusal('UNAUTHENTIC', 'co-signature')
  }
  const approved = approvalMessage(coSigned, batch.bitmap, boot)
  const verifies = (key: KeyObject) => verifyP256(key, approved, batch.approval)
  if (!registry.keysOf('approvers', nowMs).some(verifies)) {
    throw new Refusal('UNAUTHENTIC', 'approval')
  }
}

/**
 * Returns the digest to sign for an approved intent.
 * @throws Refusal when it must not be signed
 */
function digestOf(encoded: Uint8Array, seq: number, registry: Registry, nowMs: number): Uint8Array {
  const intent = decodeIntent(encoded)
  if (intent.expiresAtMs <= nowMs || intent.expiresAtMs > nowMs + INTENT_LIFETIME_MS_MAX) {
    throw new Refusal('EXPIRED', 'intent')
  }
  if (intent.seq !== seq) {
    throw new Refusal('REPLAYED', 'intent belongs to another batch')
  }
  const payload = decodePayload(intent.type, intent.payload)
  checkPins(payload, registry.chains)
  return signingHash(payload, intent.payload)
}
