import { ByteReader, sameBytes } from '../../quorum-protocol/bytes.js'
import {
  decodeApprovalEvidence,
  type ReadApprovalEvidence,
} from '../approvals/approval-evidence.js'
import { type AuthorizerEntry, decodeEntry } from '../authorizers/certificate.js'
import {
  type BatchEvidence,
  decodeBatchEvidence,
  decodeFreezeEvidence,
  decodeGrantEvidence,
  decodeMemberEvidence,
  decodeWalletEvidence,
  type FreezeEvidence,
  type GrantEvidence,
  type MemberEvidence,
  type WalletEvidence,
} from './evidence-records.js'
import {
  chainHash,
  EVIDENCE_HASH_BYTES,
  EVIDENCE_KIND,
  type StoredEvidence,
} from './stored-evidence.js'

/** One domain's log, with every hash recomputed. */
export interface ReadEvidence {
  /** The log's name in its problems. */
  readonly name: string
  readonly entries: number
  /** A sentence for each fault; empty when the log is intact. */
  readonly problems: readonly string[]
  readonly batches: readonly Dated<BatchEvidence>[]
  readonly wallets: readonly Dated<WalletEvidence>[]
  readonly grants: readonly Dated<GrantEvidence>[]
  readonly authorizers: readonly Dated<AuthorizerEntry>[]
  readonly freezes: readonly Dated<FreezeEvidence>[]
  readonly approvals: readonly Dated<ReadApprovalEvidence>[]
  readonly members: readonly Dated<MemberEvidence>[]
}

export interface Dated<T> {
  readonly index: number
  readonly timeMs: number
  readonly value: T
}

/** Combines logs into one, such as those of services that led a journal in turn. */
export function joinEvidence(logs: readonly ReadEvidence[]): ReadEvidence {
  return {
    name: logs.map(({ name }) => name).join(', '),
    entries: logs.reduce((sum, { entries }) => sum + entries, 0),
    problems: logs.flatMap(({ problems }) => problems),
    batches: logs.flatMap(({ batches }) => batches),
    wallets: logs.flatMap(({ wallets }) => wallets),
    grants: logs.flatMap(({ grants }) => grants),
    authorizers: logs.flatMap(({ authorizers }) => authorizers),
    freezes: logs.flatMap(({ freezes }) => freezes),
    approvals: logs.flatMap(({ approvals }) => approvals),
    members: logs.flatMap(({ members }) => members),
  }
}

/** A list of a million broken entries helps nobody. */
const PROBLEMS_MAX = 100

/**
 * @param name the log's name in its problems
 * @param after the entry before the first one, when the entries are the end of a chain
 */
export function readEvidence(
  name: string,
  stored: Iterable<StoredEvidence>,
  after?: StoredEvidence,
): ReadEvidence {
  const problems: string[] = []
  const batches: Dated<BatchEvidence>[] = []
  const wallets: Dated<WalletEvidence>[] = []
  const grants: Dated<GrantEvidence>[] = []
  const authorizers: Dated<AuthorizerEntry>[] = []
  const freezes: Dated<FreezeEvidence>[] = []
  const approvals: Dated<ReadApprovalEvidence>[] = []
  const members: Dated<MemberEvidence>[] = []
  let before = after?.bytes.subarray(0, EVIDENCE_HASH_BYTES) ?? Buffer.alloc(EVIDENCE_HASH_BYTES)
  let present = after?.chain ?? -1
  let expected = after === undefined ? 0 : after.index + 1
  let entries = 0
  for (const { chain, index, bytes } of stored) {
    if (problems.length >= PROBLEMS_MAX) break
    entries++
    if (chain !== present) {
      before = Buffer.alloc(EVIDENCE_HASH_BYTES)
      present = chain
      expected = 0
    }
    if (index !== expected) {
      problems.push(`${name}: entries ${expected} to ${index - 1} of chain ${chain} are missing`)
    }
    expected = index + 1
    try {
      const reader = new ByteReader(bytes)
      const hash = reader.take(EVIDENCE_HASH_BYTES)
      if (!sameBytes(hash, chainHash(before, chain, index, bytes.subarray(EVIDENCE_HASH_BYTES)))) {
        problems.push(`${name}: entry ${index} does not match its hash`)
      }
      before = hash
      const timeMs = reader.u64()
      const kind = reader.u8()
      const body = reader.rest()
      if (kind === EVIDENCE_KIND.batch) {
        batches.push({ index, timeMs, value: decodeBatchEvidence(body) })
      } else if (kind === EVIDENCE_KIND.wallet) {
        wallets.push({ index, timeMs, value: decodeWalletEvidence(body) })
      } else if (kind === EVIDENCE_KIND.grant) {
        grants.push({ index, timeMs, value: decodeGrantEvidence(body) })
      } else if (kind === EVIDENCE_KIND.authorizer) {
        authorizers.push({ index, timeMs, value: decodeEntry(body) })
      } else if (kind === EVIDENCE_KIND.freeze) {
        freezes.push({ index, timeMs, value: decodeFreezeEvidence(body) })
      } else if (kind === EVIDENCE_KIND.approval) {
        approvals.push({ index, timeMs, value: decodeApprovalEvidence(body) })
      } else if (kind === EVIDENCE_KIND.member) {
        members.push({ index, timeMs, value: decodeMemberEvidence(body) })
      } else if (kind === EVIDENCE_KIND.unprovenGrant) {
        problems.push(`${name}: grant in entry ${index} is of a time before proofs`)
      } else problems.push(`${name}: entry ${index} is of an unknown kind`)
    } catch {
      problems.push(`${name}: entry ${index} is malformed`)
    }
  }
  return {
    name,
    entries,
    problems,
    batches,
    wallets,
    grants,
    authorizers,
    freezes,
    approvals,
    members,
  }
}
