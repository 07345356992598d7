import { type FreezeStatement, freezeMessage } from '../../custody/authorizers/freeze-statement.js'
import type { FreezeEvidence } from '../../custody/evidence/evidence-records.js'
import type { Dated, ReadEvidence } from '../../custody/evidence/read-evidence.js'
import { EVIDENCE_KIND } from '../../custody/evidence/stored-evidence.js'
import { concat, viewOf } from '../../quorum-protocol/bytes.js'
import type { Registry } from '../../quorum-protocol/registry.js'
import type { AuthorityStores } from './fence-authority.js'
import { isConfirmed } from './fence-confirmed.js'

/**
 * Replays freezes into a restored ledger. Freezes count from either log, because each domain may
 * take away; lifted freezes count only from the identity provider's own log, with their proof.
 * Other freezes stay until their user lifts them again.
 * @returns how many changes the ledger learned
 */
export async function replayFreezes(
  stores: AuthorityStores,
  own: ReadEvidence | null,
  service: ReadEvidence,
  registry: Registry,
): Promise<number> {
  const ownBodies = new Set(own?.freezes.map(({ value }) => bodyOf(value)))
  const others = service.freezes.filter(({ value }) => !ownBodies.has(bodyOf(value)))
  const steps = [...(own?.freezes ?? []), ...others].sort((a, b) => a.timeMs - b.timeMs)
  let learnt = 0
  for (const step of steps) {
    const isOwn = ownBodies.has(bodyOf(step.value))
    if (await replay(stores, step, isOwn, registry)) learnt++
  }
  return learnt
}

async function replay(
  stores: AuthorityStores,
  { timeMs, value }: Dated<FreezeEvidence>,
  isOwn: boolean,
  registry: Registry,
): Promise<boolean> {
  const { ledger, changes } = stores
  const { statement, encoded, proof } = value
  const { scope, subject, sequence } = statement
  const before = ledger.freeze(scope, subject)
  if (sequence <= before.sequence) return false
  const sinceMs = await sinceAfter(statement)
  const body = concat(encoded, proof)
  await changes.commit((writer) => {
    writer.putFreeze(scope, subject, { sequence, sinceMs })
    const entry = isOwn ? null : { timeMs: Date.now(), kind: EVIDENCE_KIND.freeze, body }
    return { result: null, entry }
  }).recorded
  return true

  async function sinceAfter({ action, ownerHash }: FreezeStatement): Promise<number | null> {
    if (action === 'freeze') return before.sinceMs ?? timeMs
    const lifted =
      isOwn && (await isConfirmed(ownerHash, freezeMessage(encoded), proof, stores, registry))
    return lifted ? null : (before.sinceMs ?? timeMs)
  }
}

function bodyOf({ encoded, proof }: FreezeEvidence): string {
  return viewOf(concat(encoded, proof)).toString('latin1')
}
