import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openAuthorizerStore } from '../../custody/authorizers/authorizer-store.js'
import {
  type DomainLayout,
  registryPath,
  userSideLayout,
} from '../../custody/domain-keys/layout.js'
import {
  refuseHalfRestored,
  unfencedEvidence,
  unfencedPath,
} from '../../custody/domain-keys/pending-restore.js'
import { openEvidenceLog, openEvidenceReader } from '../../custody/evidence/evidence-log.js'
import {
  joinEvidence,
  type ReadEvidence,
  readEvidence,
} from '../../custody/evidence/read-evidence.js'
import { lockStopped } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { createRecordedAuthorizers } from '../../identity-provider/authorizers/recorded-authorizers.js'
import { positionIn } from '../../identity-provider/journal/stores.js'
import { type Fenced, fenceForward } from '../../identity-provider/vault/fence.js'
import {
  type OwnLog,
  type ReplayedAuthority,
  replayAuthority,
} from '../../identity-provider/vault/fence-authority.js'
import { replayFreezes } from '../../identity-provider/vault/fence-freezes.js'
import { replayUsage } from '../../identity-provider/vault/fence-usage.js'
import { openLedgerStore } from '../../identity-provider/vault/ledger-store.js'
import { settleOwed } from '../../identity-provider/vault/owed-evidence.js'
import { createRecordedChanges } from '../../identity-provider/vault/recorded-changes.js'
import { verified } from '../provisioning/install-registry.js'

/** With a journal, a standby would continue beside the fenced home. */
const HAS_JOURNAL =
  'has a journal with every later decision: start the identity provider with IDENTITY_JOURNAL_FILE to catch up. Fence only if that journal is lost: stop its standby, run countersign cluster leave --domain user, then repeat this command'

export interface FencedUserSide extends Fenced, ReplayedAuthority {
  /** The number of freezes that were set or lifted. */
  readonly freezes: number
}

/**
 * Runs after a restore of the identity provider and before it starts again. It adds what was
 * approved, granted and revoked since the backup, from the service's evidence or a backup of it,
 * and from the identity provider's own evidence if that survived. It may be repeated.
 * @param serviceLogs the log of each service that led the journal since; what none of them has
 * stays lost
 * @throws Error that names the log and the reason
 */
export function fenceUserSide(
  home: string,
  serviceLogs: readonly string[],
): Promise<FencedUserSide> {
  return holding(
    () => lockStopped(home, 'user', 'custody fence'),
    () => fence(home, serviceLogs),
  )
}

async function fence(home: string, serviceLogs: readonly string[]): Promise<FencedUserSide> {
  const layout = userSideLayout(home)
  refuseHalfRestored(layout)
  if ((await positionIn(home)) !== null) throw new Error(`${layout.ledger} ${HAS_JOURNAL}`)
  const registry = verified(registryPath(home), [layout.rootKey])
  const services: ReadEvidence[] = []
  for (const log of serviceLogs) services.push(await readWhole('service log', log))
  const service = joinEvidence(services)
  const own = existsSync(join(layout.evidence, 'data.mdb')) ? await readOwn(layout) : null
  const { evidence, ledger, authorizers } = openStores(layout)
  try {
    const ownEvidence = own?.evidence ?? null
    // Its own log also has the approvals whose answers were lost.
    const logs = ownEvidence === null ? [service] : [service, ownEvidence]
    const fenced = await fenceForward(ledger, logs, registry)
    const changes = createRecordedChanges(ledger, evidence)
    const recorded = createRecordedAuthorizers(authorizers, evidence)
    const stores = { ledger, authorizers, recorded, changes }
    const replayed = await replayAuthority(stores, own, service, registry)
    const freezes = await replayFreezes(stores, ownEvidence, service, registry)
    await replayUsage(ledger, logs, Date.now())
    rmSync(unfencedPath(layout), { force: true })
    return { ...replayed, freezes, ...fenced }
  } finally {
    await evidence.close()
    await authorizers.close()
    await ledger.close()
  }
}

/** A failure ends the command, which may be repeated. */
function openStores(layout: DomainLayout) {
  const evidence = openEvidenceLog(layout.evidence, 0, () => {})
  const ledger = openLedgerStore(layout.ledger, evidence)
  return { evidence, ledger, authorizers: openAuthorizerStore(layout.ledger) }
}

/** Reads its own log, after adding the entries that its stores still owed it. */
async function readOwn(layout: DomainLayout): Promise<OwnLog> {
  const { evidence, ledger, authorizers } = openStores(layout)
  try {
    await settleOwed({ ledger, authorizers }, evidence)
  } finally {
    await authorizers.close()
    await ledger.close()
    await evidence.close()
  }
  const read = await readWhole('identity provider log', layout.evidence)
  return { evidence: read, isWhole: unfencedEvidence(layout) !== 'of-backup' }
}

async function readWhole(name: string, path: string): Promise<ReadEvidence> {
  const log = openEvidenceReader(path)
  const evidence = readEvidence(`${name} ${path}`, log.entries())
  await log.close()
  if (evidence.problems.length > 0) throw new Error(evidence.problems.join('; '))
  return evidence
}
