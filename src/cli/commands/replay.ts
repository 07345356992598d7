import { join } from 'node:path'
import type { Command } from 'commander'
import { ID_PREFIX, isId, type TxId } from '../../domain/ids.js'
import { openBesideService } from '../../store/environment.js'
import { createReader } from '../../store/reader.js'
import { type GlobalOptions, homeOf } from '../connection.js'
import { EXIT, UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { printRows } from '../print.js'
import { pastDecision } from '../replay/past-decision.js'
import { replayDecision } from '../replay/replay-decision.js'

/** Repeats a past decision. It works beside a running service, and contacts no other process. */
export function register(program: Command, io: Io): void {
  program
    .command('replay')
    .description('decide again on a past call, and show each gate that it reached')
    .argument('<tx_id>', 'id of a transaction, or of a refusal in the audit trail')
    .option(
      '--store <directory>',
      "the service's store, if it is not in the home, such as in a backup",
    )
    .addHelpText(
      'after',
      `
The state of then is folded from the audit trail and from the transactions of before, and today's gates
judge it. A gate is passed over, and says why, where what it was judged by is not kept.
Exit code 1 where the verdict is another one than then.`,
    )
    .action(async (txId: string, given: { readonly store?: string }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      if (!isId(ID_PREFIX.tx, txId)) throw new UsageError(`${txId} is not a transaction id`)
      const store = given.store ?? join(homeOf(io, options), 'service', 'store')
      const environment = openBesideService(store, ({ message }) =>
        io.err(`left out: ${message}\n`),
      )
      try {
        const reader = createReader(environment)
        const decision = pastDecision(environment, reader, txId as TxId)
        if (decision === null)
          throw new UsageError(`${txId} is neither a transaction nor a refusal of this store`)
        const { recorded, replayed, same, differsAt, steps } = replayDecision(reader, decision)
        const answer = {
          ...{ tx_id: txId, recorded, replayed, same, differs_at: differsAt },
          steps: steps.map((step) => ({ ...step })),
        }
        printRows(io, options, answer, answer.steps, ['gate', 'result', 'saw'])
        if (options.json !== true) {
          io.out(same ? `then and now: ${recorded}\n` : `then ${recorded}, now ${replayed}\n`)
        }
        if (same) return
        io.err(`the verdict differs at ${differsAt}\n`)
        process.exitCode = EXIT.failed
      } finally {
        await environment.root.close()
      }
    })
}
