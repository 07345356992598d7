import type { Command } from 'commander'
import { systemTimers } from '../../../clock/timers.js'
import { type GlobalOptions, homeOf } from '../../connection.js'
import { UsageError } from '../../exit-codes.js'
import type { Io } from '../../io.js'
import { withJournal } from '../../operator/with-journal.js'
import { printRecord } from '../../print.js'
import { type DomainOptions, journaledDomainOption } from './domain-option.js'

const HELP = `
Run this in the home of a node before you repair or reboot its machine. If its service is the leader of its cell, it
asks the standbys over the node link. Once one reports ready, the service finishes its requests and stops, and that
standby takes over at once. The command ends when it has. No acknowledged send is lost. If no standby reports ready
within five seconds, nothing changes and the service keeps running.
A service that is restarted here becomes a standby, and leaves leadership to the others for ten seconds. If none of
them takes it, this one becomes the leader again; then the command reports that and fails.
On a standby there is nothing to hand over, and nothing changes: stop it.`

const OF_USER =
  'this command does not drain the identity provider: check that its standby follows (countersign_journal_behind and countersign_journal_hindered in its /metrics), then run systemctl stop countersign-identity-provider here; the standby takes over within a second'

type DrainOptions = GlobalOptions & DomainOptions & { anyway?: true }

export function registerDrain(cluster: Command, io: Io): void {
  cluster
    .command('drain')
    .description("hand this home's leadership to a standby that is ready, and stop the service")
    .addOption(journaledDomainOption())
    .option('--anyway', 'stop even if no standby has reported ready, such as without a node link')
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
        io.err("This home's service is not the leader: there is nothing to drain.\n")
      }
      printRecord(io, options, { ...drained })
    })
}
