import type { Command } from 'commander'
import { systemTimers } from '../../../clock/timers.js'
import { type GlobalOptions, homeOf } from '../../connection.js'
import { UsageError } from '../../exit-codes.js'
import type { Io } from '../../io.js'
import { withJournal } from '../../operator/with-journal.js'
import { printRecord } from '../../print.js'

const HELP = `
Said at the home of the journal's owner, whose service runs, with the address at which the other node answers
/readyz. That one has to be a standby that is loaded, close behind and able to sign; where it is not, nothing is
done. The owner says in the journal who is to have it, answers what is under way and ends; its supervisor starts it
again as a standby. Others that wait hold back for ten seconds, so that the journal is not left without an owner
where the one that is named ends meanwhile. No send that was acknowledged is lost.`

export function registerMove(cluster: Command, io: Io): void {
  cluster
    .command('move')
    .description('hand the journal over from the service of this home to a standby by its address')
    .requiredOption('--to <url>', 'where that standby answers, such as http://10.0.0.2:8080')
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
  throw new UsageError(`${text} is no http:// or https:// address`)
}
