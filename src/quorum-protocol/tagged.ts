import { hash } from 'node:crypto'
import { concat, scratch } from './bytes.js'

/**
 * Every hash and signature of the protocol covers a tag, a zero byte and the message, so that a
 * signature made for one purpose never verifies for another.
 */
export const TAG = {
  intent: 'awi/intent/v1',
  coSignBatch: 'awi/cosign-batch/v1',
  batch: 'awi/batch/v1',
  userApprove: 'awi/user-approve/v1',
  keyProof: 'awi/key-proof/v1',
  quorumBoot: 'awi/quorum-boot/v1',
  serviceBoot: 'awi/service-boot/v1',
  session: 'awi/session/v1',
  keygenCommit: 'awi/keygen-commit/v1',
  keygenTranscript: 'awi/keygen-transcript/v1',
  refresh: 'awi/share-refresh/v1',
  selfTest: 'awi/self-test/v1',
  selfTestRequest: 'awi/self-test-request/v1',
  certificate: 'awi/wallet-certificate/v1',
  registry: 'awi/registry/v1',
  grantChange: 'awi/grant-change/v1',
  subKey: 'awi/sub-key/v1',
  freezeChange: 'awi/freeze-change/v1',
  memberChange: 'awi/member-change/v1',
  callApproval: 'awi/call-approval/v1',
  callAsked: 'awi/call-asked/v1',
  authorizerRequest: 'awi/authorizer-request/v1',
  authorizer: 'awi/authorizer/v1',
  authorizerEntry: 'awi/authorizer-entry/v1',
  authorizerRecovery: 'awi/authorizer-recovery/v1',
  signIn: 'awi/sign-in/v1',
  evidence: 'awi/evidence/v1',
} as const

type Tag = (typeof TAG)[keyof typeof TAG]

const PREFIX = new Map(Object.values(TAG).map((tag) => [tag, Buffer.from(`${tag}\0`, 'latin1')]))

export function tagged(tag: Tag, ...parts: readonly Uint8Array[]): Buffer {
  return concat(prefixOf(tag), ...parts)
}

function prefixOf(tag: Tag): Buffer {
  const prefix = PREFIX.get(tag)
  if (prefix === undefined) throw new Error('unknown tag')
  return prefix
}

/** 32 bytes, SHA-256. */
export function taggedHash(tag: Tag, ...parts: readonly Uint8Array[]): Buffer {
  const prefix = prefixOf(tag)
  let length = prefix.length
  for (const part of parts) length += part.length
  const message = scratch(length)
  message.set(prefix)
  let at = prefix.length
  for (const part of parts) {
    message.set(part, at)
    at += part.length
  }
  return sha256(message)
}

/**
 * Returns 32 bytes from a one-shot hash, because a hash object costs more than hashing an intent.
 * The detour through a string avoids the separate memory of the hash's Buffer, which costs more to
 * make and collect than a copy into the pool.
 */
export function sha256(bytes: Uint8Array): Buffer {
  return Buffer.from(hash('sha256', bytes, 'binary'), 'latin1')
}
