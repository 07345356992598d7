import { readEvidence } from '../../../custody/evidence/read-evidence.js'
import {
  EVIDENCE_HASH_BYTES,
  type StoredEvidence,
} from '../../../custody/evidence/stored-evidence.js'
import { verifyEvidence } from '../../../custody-tools/audit/verify-evidence.js'
import { viewOf } from '../../../quorum-protocol/bytes.js'
import { publicKeyFromRaw } from '../../../quorum-protocol/p256.js'
import { openRegistry, type Registry } from '../../../quorum-protocol/registry.js'
import { sha256 } from '../../../quorum-protocol/tagged.js'
import { type EvidenceFile, readEvidenceFile } from './read-file.js'
import { verifyByWebCrypto } from './web-crypto.js'

/**
 * Verifies evidence written by `countersign verify-audit --export` with the code of that command;
 * the browser's own P-256 checks the signatures of batches.
 */

export interface ChainFound {
  readonly log: 'service' | 'identity'
  readonly chain: number
  readonly entries: number
  /** Hash of the last entry, in hex, which covers all entries before. */
  readonly head: string
}

export interface EvidenceFound {
  readonly chains: readonly ChainFound[]
  readonly entries: number
  readonly wallets: number
  readonly grantVersions: number
  readonly authorizerChanges: number
  /** Intents that both keys approved. */
  readonly approvals: number
  readonly approvedByPeople: number
  readonly lostAnswers: number
  readonly registry: {
    readonly version: number
    readonly environment: string
    /** SHA-256 of the root's key as DER, in hex, which identifies whose registry this is. */
    readonly root: string
  }
  /** The first problems, as text; empty if everything holds. */
  readonly problems: readonly string[]
  readonly problemsInAll: number
}

export interface Progress {
  readonly step: 'read' | 'verified'
  readonly count: number
}

/** Listing each of a million problems would help nobody. */
const PROBLEMS_MAX = 20
/** Batches between two progress reports. */
const PROGRESS_BATCHES = 100

/** @throws Error if the command did not write the file */
export async function verifyEvidenceFile(
  pieces: AsyncIterable<Uint8Array>,
  onProgress: (progress: Progress) => void,
): Promise<EvidenceFound> {
  const file = await readEvidenceFile(pieces, (count) => onProgress({ step: 'read', count }))
  const registry = registryOf(file)
  const service = readEvidence('service log', file.service)
  const identity = readEvidence('identity provider log', file.identity)
  const report = await verifyEvidence([service], identity, registry, {
    verifyP256: verifyByWebCrypto,
    onProgress(count) {
      if (count % PROGRESS_BATCHES === 0) onProgress({ step: 'verified', count })
    },
  })
  return {
    chains: [...chainsOf('service', file.service), ...chainsOf('identity', file.identity)],
    entries: file.service.length + file.identity.length,
    wallets: report.wallets,
    grantVersions: report.grants,
    authorizerChanges: report.authorizers,
    approvals: report.approvals,
    approvedByPeople: report.approvedByPeople.length,
    lostAnswers: report.unanswered,
    registry: {
      version: registry.version,
      environment: registry.environment,
      root: sha256(registry.root.export({ type: 'spki', format: 'der' })).toString('hex'),
    },
    problems: report.problems.slice(0, PROBLEMS_MAX),
    problemsInAll: report.problems.length,
  }
}

/** @throws Error with a text for people if the root did not sign it */
function registryOf({ registry: { body, signature, root } }: EvidenceFile): Registry {
  try {
    return openRegistry({ body, signature }, publicKeyFromRaw(root))
  } catch {
    throw new Error('The registry in this file is not signed by the root that the file names.')
  }
}

function chainsOf(log: ChainFound['log'], stored: readonly StoredEvidence[]): ChainFound[] {
  const chains = new Map<number, ChainFound>()
  for (const { chain, bytes } of stored) {
    const head = viewOf(bytes.subarray(0, EVIDENCE_HASH_BYTES)).toString('hex')
    chains.set(chain, { log, chain, entries: (chains.get(chain)?.entries ?? 0) + 1, head })
  }
  return [...chains.values()]
}
