import type { KeyObject } from 'node:crypto'
import type { BatchEvidence, WalletEvidence } from '../../custody/evidence/evidence-records.js'
import type { ReadEvidence } from '../../custody/evidence/read-evidence.js'
import {
  approvalMessage,
  coSignMessage,
  decodeHeader,
  hasBit,
} from '../../quorum-protocol/batch.js'
import { isZero, sameBytes, viewOf } from '../../quorum-protocol/bytes.js'
import { isSignedBy } from '../../quorum-protocol/curve.js'
import { decodeIntent, type Intent, intentId, usesGrant } from '../../quorum-protocol/intent.js'
import {
  type Certificate,
  certificateMessage,
  decodeCertificate,
  selfTestDigest,
  walletAddress,
  walletPoint,
} from '../../quorum-protocol/keygen.js'
import { verifyP256 } from '../../quorum-protocol/p256.js'
import { decodePayload } from '../../quorum-protocol/payload.js'
import type { Registry } from '../../quorum-protocol/registry.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import type { ProvenApproval } from './approval-replay.js'
import { type KeylessSignature, keylessSignatures } from './keyless-signatures.js'
import { grantVersionName } from './policy-replay.js'
import { verifyAuthority } from './verify-authority.js'
import { deniedApprovals } from './verify-policies.js'

/**
 * Proves offline, from both logs and the registry only, that both domains approved exactly what was
 * signed. It proves nothing about signatures without a trace in either log; for those, compare the
 * chain's own transactions with it.
 */
export interface AuditReport {
  readonly problems: readonly string[]
  readonly wallets: number
  /** The addresses of all wallets, 20 bytes each. */
  readonly addresses: readonly Uint8Array[]
  readonly grants: number
  /** The number of additions and removals of users' authorizers. */
  readonly authorizers: number
  /** The number of intents that both domains approved. */
  readonly approvals: number
  /** The approvals by people of calls that a rule held, oldest first. */
  readonly approvedByPeople: readonly ProvenApproval[]
  /** What the service had signed for users' wallets by itself, oldest first. */
  readonly keyless: readonly KeylessSignature[]
  /**
   * The number of approvals by the identity provider without a trace at the service: lost answers.
   */
  readonly unanswered: number
  /** Returns the approvals among which a transaction on chain must be. */
  find(address: Uint8Array, chainId: number, nonce: number): readonly ApprovedPayload[]
}

interface ApprovedPayload {
  readonly intent: Intent
  /** 32 bytes: SHA-256 of the unsigned payload. */
  readonly payloadHash: Uint8Array
}

interface ApprovedIntent {
  readonly intent: Intent
  readonly atMs: number
}

interface Audit {
  readonly registry: Registry
  readonly problems: string[]
  readonly certificates: Map<string, Certificate>
  /** `grant id:version` in the identity provider's log. */
  readonly grantVersions: ReadonlySet<string>
  readonly byNonce: Map<string, ApprovedPayload[]>
}

/** @param services the logs of all nodes of a journal; each has what that node requested */
export async function verifyEvidence(
  services: readonly ReadEvidence[],
  user: ReadEvidence,
  registry: Registry,
): Promise<AuditReport> {
  const authority = await verifyAuthority(services, user, registry)
  const audit: Audit = {
    registry,
    problems: [
      ...services.flatMap(({ problems }) => problems),
      ...user.problems,
      ...authority.problems,
    ],
    certificates: new Map(),
    grantVersions: authority.grantVersions,
    byNonce: new Map(),
  }
  const wallets = [user, ...services].flatMap((log) => log.wallets)
  for (const { index, timeMs, value } of wallets) checkWallet(value, index, timeMs, audit)
  const userIds = approvedIds(user, audit)
  const serviceIds = new Map<string, ApprovedIntent>()
  for (const service of services) {
    for (const [id, approved] of approvedIds(service, audit)) {
      if (!userIds.has(id)) {
        audit.problems.push(
          `${service.name}: approval ${short(id)} is not in the identity provider's log`,
        )
      }
      serviceIds.set(id, approved)
    }
  }
  for (const [id, { intent }] of serviceIds) checkAuthority(id, intent, audit)
  const approvals = [...userIds].map(([id, { intent, atMs }]) => {
    const certificate = audit.certificates.get(epochName(intent.walletId, intent.epoch))
    const address = certificate === undefined ? null : walletAddress(certificate)
    const { ownerHash = null, kind = null } = certificate ?? {}
    return { id, atMs, intent, address, ownerHash, kind }
  })
  const elsewhere = [...serviceIds].filter(([id]) => !userIds.has(id))
  const lost = elsewhere.map(([, { intent }]) => intent)
  audit.problems.push(...deniedApprovals(approvals, authority, lost))
  const unanswered = [...userIds.keys()].filter((id) => !serviceIds.has(id)).length
  const addresses = addressesOf(audit)
  return {
    problems: audit.problems,
    wallets: addresses.size,
    addresses: [...addresses.values()],
    grants: audit.grantVersions.size,
    authorizers: user.authorizers.length,
    approvals: serviceIds.size,
    approvedByPeople: authority.approvedByPeople,
    keyless: keylessSignatures(approvals),
    unanswered,
    find: (address, chainId, nonce) => audit.byNonce.get(nonceName(address, chainId, nonce)) ?? [],
  }
}

/** Groups by wallet over all its epochs: a refresh of the shares keeps the key. */
function addressesOf(audit: Audit): Map<string, Uint8Array> {
  const addresses = new Map<string, Uint8Array>()
  for (const certificate of audit.certificates.values()) {
    const wallet = viewOf(certificate.walletId).toString('hex')
    const address = walletAddress(certificate)
    const before = addresses.get(wallet)
    if (before !== undefined && !sameBytes(before, address)) {
      audit.problems.push(`wallet ${wallet}: its certificates name different keys`)
    }
    addresses.set(wallet, address)
  }
  return addresses
}

function checkWallet(wallet: WalletEvidence, index: number, timeMs: number, audit: Audit): void {
  const { registry } = audit
  try {
    const certificate = decodeCertificate(wallet.certificate)
    const message = certificateMessage(wallet.certificate)
    const signedBy = (role: 'co_signers' | 'approvers', signature: Uint8Array) =>
      isByOneOf(registry.keysOf(role, timeMs), message, signature)
    if (
      signedBy('co_signers', wallet.serviceSignature) &&
      signedBy('approvers', wallet.userSignature) &&
      isSignedBy(walletPoint(certificate), selfTestDigest(wallet.certificate), wallet.selfTest)
    ) {
      audit.certificates.set(epochName(certificate.walletId, certificate.epoch), certificate)
      return
    }
  } catch {
    // The finding is the same as below: it certifies nothing.
  }
  audit.problems.push(`wallet certificate in entry ${index} does not verify`)
}

/**
 * Returns the ids of the intents that a log's batches prove approved, after their signatures are
 * checked.
 */
function approvedIds(
  { batches, name: log }: ReadEvidence,
  audit: Audit,
): Map<string, ApprovedIntent> {
  const approved = new Map<string, ApprovedIntent>()
  for (const { index, timeMs, value } of batches) {
    try {
      const ids = value.intents.map(intentId)
      if (!isAuthentic(value, ids, timeMs, audit.registry)) {
        audit.problems.push(`${log}: signatures of entry ${index} do not verify`)
        continue
      }
      value.intents.forEach((encoded, position) => {
        const id = ids[position]
        if (id === undefined || !hasBit(value.bitmap, position)) return
        const intent = decodeIntent(encoded)
        approved.set(viewOf(id).toString('hex'), { intent, atMs: timeMs })
      })
    } catch {
      audit.problems.push(`${log}: entry ${index} does not decode`)
    }
  }
  return approved
}

function isAuthentic(
  batch: BatchEvidence,
  ids: readonly Uint8Array[],
  timeMs: number,
  registry: Registry,
): boolean {
  const coSigned = coSignMessage(batch.header, ids)
  const coSigner = registry.keyById('co_signers', decodeHeader(batch.header).kid, timeMs)
  if (coSigner === null || !verifyP256(coSigner, coSigned, batch.coSignature)) return false
  const approval = approvalMessage(coSigned, batch.bitmap, batch.quorumBoot)
  return isByOneOf(registry.keysOf('approvers', timeMs), approval, batch.approval)
}

function isByOneOf(
  keys: readonly KeyObject[],
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  return keys.some((key) => verifyP256(key, message, signature))
}

/** Checks the wallet, grant and payload of an approved intent. */
function checkAuthority(id: string, intent: Intent, audit: Audit): void {
  const certificate = audit.certificates.get(epochName(intent.walletId, intent.epoch))
  if (certificate === undefined) {
    audit.problems.push(`approval ${short(id)}: no certificate of its wallet`)
    return
  }
  const payload = decodePayload(intent.type, intent.payload)
  // An intent without a proof was a repeat, a fee bump, a cancel or a gas wallet's: it used no
  // grant.
  if (usesGrant(intent) && !isZero(intent.keyId)) {
    const grant = grantVersionName(intent.grantId, intent.grantVersion)
    if (!audit.grantVersions.has(grant)) {
      audit.problems.push(`approval ${short(id)}: its grant is not in the identity provider's log`)
    }
  }
  if (payload.kind === 'router-intent') return
  const name = nonceName(walletAddress(certificate), payload.chainId, payload.nonce)
  const found = audit.byNonce.get(name) ?? []
  found.push({ intent, payloadHash: sha256(intent.payload) })
  audit.byNonce.set(name, found)
}

function epochName(walletId: Uint8Array, epoch: number): string {
  return `${viewOf(walletId).toString('hex')}:${epoch}`
}

function nonceName(address: Uint8Array, chainId: number, nonce: number): string {
  return `${viewOf(address).toString('hex')}:${chainId}:${nonce}`
}

function short(id: string): string {
  return id.slice(0, 16)
}
