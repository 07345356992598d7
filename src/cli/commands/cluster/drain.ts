import type { Command } from 'commander'
import { systemTimers } from '../../../clock/timers.js'
import { type GlobalOptions, homeOf } from '../../connection.js'
import { UsageError } from '../../exit-codes.js'
import type { Io } from '../../io.js'
import { withJournal } from '../../operator/with-journal.js'
import { printRecord } from '../../print.js'
import { type DomainOptions, journaledDomainOption } from './domain-option.js'

const HELP = `
Said at the home of a node that is to be taken out of service, before its machine is mended or started anew. Where its
service owns the journal of its cell it asks who waits, by the link of the nodes; once one that could go on has
said so it answers what is under way and ends, and that one takes the journal at once. This ends when it has. No
send that was acknowledged is lost. Where nobody says so within five seconds, nothing is done: the service goes on.
What is started again here waits like any other, and leaves the journal to the others for ten seconds. After those
it takes it back, where it runs and nobody else has: then this says so and fails.
Of a node that only waits there is nothing to hand over, and nothing is done: end it.`

const OF_USER =
  'of the identity provider nothing is asked by a link: look that its standby follows (countersign_journal_behind and countersign_journal_hindered of its /metrics), and end the one here (systemctl stop countersign-identity-provider), from which that one takes over within a second'

type DrainOptions = GlobalOptions & DomainOptions & { anyway?: true }

export function registerDrain(cluster: Command, io: Io): void {
  cluster
    .command('drain')
    .description('have the service of this home leave its journal to whoever waits, and end')
    .addOption(journaledDomainOption())
    .option('--anyway', 'although no node has said that it waits, as where they have no link')
    .addHelpText('after', HELP)
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<DrainOptions>()
      if (options.domain === 'user') throw new UsageError(OF_USER)
      const { drainJournal } = await import('../../operator/drain-journal.js')
      const home = homeOf(io, options)
      const drained = await withJournal(io, 'service', (journal, { number: partition }) =>
        drainJournal({
          ...{ home, journal, partition, timers: systemTimers() },
          ends: options.anyway === true ? 'anyway' : 'for one that waits',
          step(sentence) {
            if (options.json !== true) io.err(`${sentence}\n`)
          },
        }),
      )
      if (!drained.drained && options.json !== true) {
        io.err('The service of this home does not own the journal: there is nothing to drain.\n')
      }
      printRecord(io, options, { ...drained })
    })
}
