import type { Command } from 'commander'
import { systemTimers } from '../../../clock/timers.js'
import { type GlobalOptions, homeOf } from '../../connection.js'
import { UsageError } from '../../exit-codes.js'
import type { Io } from '../../io.js'
import { withJournal } from '../../operator/with-journal.js'
import { printRecord } from '../../print.js'

const HELP = `
Run this in the leader's home while its service runs, with the address at which the other node answers /readyz.
That node must be a standby that is loaded, close behind and able to sign; otherwise nothing changes. The leader
names its successor in the journal, finishes its requests and stops; its supervisor restarts it as a standby. Other
standbys hold back for ten seconds; if the successor ends in that time, one of them takes over. No acknowledged
send is lost.`

export function registerMove(cluster: Command, io: Io): void {
  cluster
    .command('move')
    .description("hand leadership from this home's service to the standby at an address")
    .requiredOption('--to <url>', 'the address of that standby, such as http://10.0.0.2:8080')
    .addHelpText('after', HELP)
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { to: string }>()
      const to = addressOf(options.to)
      const { moveJournal } = await import('../../operator/move-journal.js')
      const home = homeOf(io, options)
      const moved = await withJournal(io, 'service', (journal, { number: partition }) =>
        moveJournal({ home, to, journal, partition, timers: systemTimers() }),
      )
      printRecord(io, options, { ...moved })
    })
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && /^https?:$/.test(url.protocol)) return url
  throw new UsageError(`${text} is not an http:// or https:// address`)
}
