import { hostname } from 'node:os'
import type { Command } from 'commander'
import { systemTimers } from '../../../clock/timers.js'
import { type GlobalOptions, homeOf } from '../../connection.js'
import type { Io } from '../../io.js'
import { withJournal } from '../../operator/with-journal.js'
import { printRecord } from '../../print.js'

const HELP = `
For a service that ran without a journal before. Stop it, set COUNTERSIGN_JOURNAL_FILE to an empty journal, run this
as its user, and start the service with the journal before any standby. The journal then has the rows of the store
and the shares of wallet keys, sealed as on the disk, so that a lost store can be recovered from the start.
If the command is interrupted, run it again: it continues. From then on the service does not start without its
journal; countersign cluster leave reverses that.`

const MIB = 1024 * 1024
const TOLD_EVERY_MS = 1_000

export function registerImport(cluster: Command, io: Io): void {
  cluster
    .command('import')
    .description('put the store of a stopped service without a journal into an empty journal')
    .addHelpText('after', HELP)
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const { importStore } = await import('../../operator/import-store.js')
      const timers = systemTimers()
      let toldMs = timers.elapsed()
      const said = (context: object, message: string) => io.err(lineOf(context, message))
      const made = await withJournal(io, 'service', (journal, cell) =>
        importStore({
          ...{ home: homeOf(io, options), journal, cell, timers },
          node: `${hostname()} (cluster import)`,
          log: {
            ...{ error: said, warn: said },
            info: (_context, message) => {
              if (io.isInteractive) io.err(`${message}\n`)
            },
          },
          put(bytes, of) {
            if (!io.isInteractive || timers.elapsed() - toldMs < TOLD_EVERY_MS) return
            toldMs = timers.elapsed()
            const [done, all] = [bytes, of].map((count) => Math.round(count / MIB))
            io.err(`the snapshot has ${done} MiB, of ${all} at most\n`)
          },
        }),
      )
      const { entries, snapshot, sharesLeft } = made
      printRecord(io, options, {
        entries,
        snapshot_entry: snapshot.seq,
        snapshot_bytes: snapshot.bytes,
        snapshot_at: new Date(snapshot.atMs).toISOString(),
        shares_left: sharesLeft,
      })
    })
}

function lineOf(
  { err, wallet }: { readonly err?: unknown; readonly wallet?: unknown },
  message: string,
): string {
  const of = wallet === undefined ? '' : ` (wallet ${String(wallet)})`
  return `${message}${of}${err instanceof Error ? `: ${err.message}` : ''}\n`
}
