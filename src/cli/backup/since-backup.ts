import { openEvidenceReader } from '../../custody/evidence/evidence-log.js'
import type { BatchEvidence } from '../../custody/evidence/evidence-records.js'
import {
  type Dated,
  type ReadEvidence,
  readEvidence,
} from '../../custody/evidence/read-evidence.js'
import { evidenceIn } from '../../custody-tools/maintenance/audit-home.js'
import { CLOCK_ERROR_MAX_MS } from '../../domain/clock.js'
import type { UsdMicros } from '../../domain/money.js'
import { hasBit } from '../../quorum-protocol/batch.js'
import { sameBytes, viewOf } from '../../quorum-protocol/bytes.js'
import { decodeIntent } from '../../quorum-protocol/intent.js'
import { UsageError } from '../exit-codes.js'

/** What the identity provider's log says about the time after a backup of the service. */
export interface SinceBackup {
  /**
   * Hex of the ids of wallets with an approval since. Not keys: a key's spend can count for others
   * of its wallet, and a key made since is not in the backup.
   */
  readonly usedWallets: ReadonlySet<string>
  /** What was revoked since, by hex of the key's id. */
  readonly grants: ReadonlyMap<string, LaterGrant>
  /** When the last entry was written, by the identity provider's clock; 0 without entries. */
  readonly lastAtMs: number
}

interface LaterGrant {
  readonly dailyLimitMicros: UsdMicros | null
  readonly monthlyLimitMicros: UsdMicros | null
  /** Null when it was not revoked. */
  readonly revokedAtMs: number | null
}

/**
 * @param place the log, or the directory that contains it: the identity provider's home, or a later
 * copy
 * @param own the service's evidence in the backup
 * @param beganAtMs when the backup of the service began, by the service's clock
 * @throws Error when there is no log, or it is damaged
 * @throws UsageError when it is older than the backup, or belongs to another installation
 */
export async function readSinceBackup(
  place: string,
  own: string,
  beganAtMs: number,
): Promise<SinceBackup> {
  const path = evidenceIn(place)
  const evidence = await readWhole(path)
  refuseOlder(path, evidence, await readWhole(own))
  // The two hosts' clocks may differ by this much.
  return sinceIn(evidence, beganAtMs - CLOCK_ERROR_MAX_MS)
}

async function readWhole(path: string): Promise<ReadEvidence> {
  const log = openEvidenceReader(path)
  try {
    const evidence = readEvidence(`the log ${path}`, log.entries())
    if (evidence.problems.length > 0) throw new Error(evidence.problems.join('; '))
    return evidence
  } finally {
    await log.close()
  }
}

/**
 * The identity provider writes an approval to disk before it answers, so a log from after the
 * backup has everything that the service had. An older log would make nothing count as used since.
 */
function refuseOlder(path: string, { batches }: ReadEvidence, own: ReadEvidence): void {
  const last = newestOf(own.batches)
  if (last === null) return
  if (batches.some(({ value }) => sameBytes(value.header, last.value.header))) return
  throw new UsageError(
    `${path} lacks signatures that the service had when it was backed up: it is older than the backup, or belongs to another installation. Run the command again with a copy from after the loss; without --user-log every key's caps count as used up`,
  )
}

function newestOf(batches: readonly Dated<BatchEvidence>[]): Dated<BatchEvidence> | null {
  return batches.reduce<Dated<BatchEvidence> | null>(
    (newest, batch) => (newest === null || batch.timeMs > newest.timeMs ? batch : newest),
    null,
  )
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
      // A revoked grant has the lowest terms, or its earlier ones.
      ...{ dailyLimitMicros, monthlyLimitMicros },
      revokedAtMs: wasRevokedAtMs ?? (revoked ? timeMs : null),
    })
  }
  const lastAtMs = [...batches, ...grants].reduce((last, { timeMs }) => Math.max(last, timeMs), 0)
  return { usedWallets, grants: later, lastAtMs }
}

function hex(bytes: Uint8Array): string {
  return viewOf(bytes).toString('hex')
}
