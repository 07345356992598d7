import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type GlobalOptions, homeOf } from '../../connection.js'
import type { Io } from '../../io.js'
import { printRecord } from '../../print.js'

const HELP = `
Runs while the service does, as its user. In it: the service's keys, sealed shares, ledger, evidence and lists, registry.json, chains.json, screening.json. Not in it: the store, which the new node
fills from the journal, and what is another domain's, of one run, or named by the environment.`

/** What no copy of a home brings along. */
const NEXT = `Private keys of the service are in it where they lie in files: carry it over encrypted, to the home of the
other machine, with owners and modes as they are here, and remove it here. A token or KMS that
service/custody/keys/store.json names has to answer there. Then, on that machine:
  1. The journal's file and the service's environment as they are here, with COUNTERSIGN_JOURNAL_FILE and
     COUNTERSIGN_JOURNAL_ROLE=standby, and here too: the one that comes back then waits for the other.
  2. The same identity provider, by COUNTERSIGN_IDENTITY_LINK_FILE, or on its machine by its socket in run/.
  3. A quorum signer of its own: countersign custody provision --domain quorum. Its key has to be in the
     registry: countersign custody sign-registry --registry FILE --enrolments FILE on the root's machine,
     and countersign custody install-registry on every machine.
  4. The service. /readyz says how far it is behind; 200 there is for whoever sends callers to it.
`

export function registerAddNode(cluster: Command, io: Io): void {
  cluster
    .command('add-node')
    .description('make the home of a further node out of this one, to carry to its machine')
    .requiredOption('--to <directory>', 'a directory that does not exist yet, or is empty')
    .addHelpText('after', HELP)
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { to: string }>()
      const { makeNodeHome } = await import('../../operator/make-node-home.js')
      const to = resolve(options.to)
      const made = await makeNodeHome(homeOf(io, options), to)
      printRecord(io, options, { home: to, ...made })
      io.err(NEXT)
    })
}
