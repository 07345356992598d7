import type { Command } from 'commander'
import { consoleClient, type GlobalOptions } from '../connection.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { findKey, policyOfKey } from '../key-policy.js'
import {
  DIFFERENCE_COLUMNS,
  difference,
  differenceRows,
  differenceView,
  NO_SOLVER,
  tellBreakersGone,
} from '../policy-diff/show.js'
import { readPolicyOrNone } from '../policy-file.js'
import { printRows } from '../print.js'

export function registerDiff(policy: Command, io: Io): void {
  policy
    .command('diff')
    .description('what the second policy lets through that the first does not, each by a call')
    .argument('<files...>', 'JSON: two policies, or with --key one; "none" is no policy at all')
    .option('--key <key_id>', "the key's own is the first (console token)")
    .action(async (files: readonly string[], given: { key?: string }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const read = files.map(readPolicyOrNone)
      if (read.length !== (given.key === undefined ? 2 : 1)) {
        throw new UsageError('give two policies, or one and --key')
      }
      const own =
        given.key === undefined
          ? []
          : [policyOfKey(await findKey(await consoleClient(io, options), given.key))]
      const [before = null, next = null] = [...own, ...read]
      const found = await difference(before, next)
      if (found === null) throw new UsageError(NO_SOLVER)
      tellBreakersGone(io, before, next)
      if (found.examples.length === 0) io.err('No call that it could not make before.\n')
      if (!found.isWhole) io.err('There is more than is shown here.\n')
      if (found.examples.length === 0 && options.json !== true) return
      const view = differenceView(found, before, next)
      printRows(io, options, view, differenceRows(found), DIFFERENCE_COLUMNS)
    })
}
