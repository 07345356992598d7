import { openEvidenceReader } from '../../custody/evidence/evidence-log.js'
import { type ReadEvidence, readEvidence } from '../../custody/evidence/read-evidence.js'
import { evidenceIn } from '../../custody-tools/maintenance/audit-home.js'
import { CLOCK_ERROR_MAX_MS } from '../../domain/clock.js'
import type { UsdMicros } from '../../domain/money.js'
import { hasBit } from '../../quorum-protocol/batch.js'
import { viewOf } from '../../quorum-protocol/bytes.js'
import { decodeIntent } from '../../quorum-protocol/intent.js'

/** What the identity provider's log says of the time after a backup of the service. */
export interface SinceBackup {
  /**
   * Hex of the ids of wallets that something was approved for. Not of keys: what one spends can
   * count on others of its wallet, and one that was made since is not in the backup.
   */
  readonly usedWallets: ReadonlySet<string>
  /** By hex of the key's id, what was taken from it at any time since. */
  readonly grants: ReadonlyMap<string, LaterGrant>
}

export interface LaterGrant {
  readonly dailyLimitMicros: UsdMicros | null
  readonly monthlyLimitMicros: UsdMicros | null
  /** Null: it was not revoked. */
  readonly revokedAtMs: number | null
}

/**
 * @param place the log, or what it is in: the identity provider's home, or a later copy
 * @param beganAtMs when the backup of the service began, by the service's clock
 * @throws Error when there is no log, or it is not whole
 */
export async function readSinceBackup(place: string, beganAtMs: number): Promise<SinceBackup> {
  const path = evidenceIn(place)
  const log = openEvidenceReader(path)
  try {
    const evidence = readEvidence(`the log ${path}`, log.entries())
    if (evidence.problems.length > 0) throw new Error(evidence.problems.join('; '))
    // The two hosts' clocks may be so far apart.
    return sinceIn(evidence, beganAtMs - CLOCK_ERROR_MAX_MS)
  } finally {
    await log.close()
  }
}

function sinceIn({ batches, grants }: ReadEvidence, sinceMs: number): SinceBackup {
  const usedWallets = new Set<string>()
  for (const { timeMs, value } of batches) {
    if (timeMs < sinceMs) continue
    value.intents.forEach((encoded, position) => {
      if (hasBit(value.bitmap, position)) usedWallets.add(hex(decodeIntent(encoded).walletId))
    })
  }
  const later = new Map<string, LaterGrant>()
  for (const { timeMs, value } of grants) {
    if (timeMs < sinceMs) continue
    const { keyId, revoked, dailyLimitMicros, monthlyLimitMicros } = value.statement
    const name = hex(keyId)
    const wasRevokedAtMs = later.get(name)?.revokedAtMs ?? null
    later.set(name, {
      // A revoked grant has the least terms, or those that it had.
      ...{ dailyLimitMicros, monthlyLimitMicros },
      revokedAtMs: wasRevokedAtMs ?? (revoked ? timeMs : null),
    })
  }
  return { usedWallets, grants: later }
}

function hex(bytes: Uint8Array): string {
  return viewOf(bytes).toString('hex')
}
