import { resolve } from 'node:path'
import { Command } from 'commander'
import { registryPath, userSideLayout } from '../../custody/domain-keys/layout.js'
import { readRegistryFile, readRootKey } from '../../custody/domain-keys/registry-file.js'
import { openEvidenceReader } from '../../custody/evidence/evidence-log.js'
import { readEvidence } from '../../custody/evidence/read-evidence.js'
import { openRegistry } from '../../custody/protocol/registry.js'
import { fenceForward } from '../vault/fence.js'
import { openLedgerStore } from '../vault/ledger-store.js'

/** `npm run custody:fence`: after a restore of the user side, and before it starts again. */
const program = new Command('custody:fence')
  .description('Teach a restored user side what it approved since its backup.')
  .requiredOption('--service-log <directory>', "the service's evidence, or a backup of it")
  .option(
    '--home <directory>',
    'home of the identity provider',
    process.env.COUNTERSIGN_HOME ?? '.countersign',
  )
  .action(async (options: { serviceLog: string; home: string }) => {
    const home = resolve(options.home)
    const layout = userSideLayout(home)
    const registry = openRegistry(readRegistryFile(registryPath(home)), readRootKey(layout.rootKey))
    const log = openEvidenceReader(resolve(options.serviceLog))
    const evidence = readEvidence('service log', log.entries())
    await log.close()
    const ledger = openLedgerStore(layout.ledger)
    try {
      const { approvals, lastLane } = await fenceForward(ledger, evidence, registry)
      process.stdout.write(`fenced: ${approvals} approvals, lanes up to ${lastLane} closed\n`)
    } finally {
      await ledger.close()
    }
  })

await program.parseAsync()
