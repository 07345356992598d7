import { registryPath, userSideLayout } from '../../custody/domain-keys/layout.js'
import { openEvidenceReader } from '../../custody/evidence/evidence-log.js'
import { readEvidence } from '../../custody/evidence/read-evidence.js'
import { verified } from '../../custody/provisioning/install-registry.js'
import { type Fenced, fenceForward } from '../vault/fence.js'
import { openLedgerStore } from '../vault/ledger-store.js'

/**
 * After a restore of the user side, and before it starts again: teaches it what it approved since
 * its backup, from the service's evidence or a backup of it.
 * @throws Error that names the log and the reason
 */
export async function fenceUserSide(home: string, serviceLog: string): Promise<Fenced> {
  const layout = userSideLayout(home)
  const registry = verified(registryPath(home), [layout.rootKey])
  const log = openEvidenceReader(serviceLog)
  const evidence = readEvidence(serviceLog, log.entries())
  await log.close()
  const ledger = openLedgerStore(layout.ledger)
  try {
    return await fenceForward(ledger, evidence, registry)
  } finally {
    await ledger.close()
  }
}
