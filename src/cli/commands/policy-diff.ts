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
    .description('calls that the second policy allows and the first does not, with examples')
    .argument('<files...>', 'JSON files: two policies, or one with --key; "none" means no policy')
    .option('--key <key_id>', "compare with the key's own policy (console token)")
    .action(async (files: readonly string[], given: { key?: string }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const read = files.map(readPolicyOrNone)
      if (read.length !== (given.key === undefined ? 2 : 1)) {
        throw new UsageError('give two policies, or one policy and --key')
      }
      const own =
        given.key === undefined
          ? []
          : [policyOfKey(await findKey(await consoleClient(io, options), given.key))]
      const [before = null, next = null] = [...own, ...read]
      const found = await difference(before, next)
      if (found === null) throw new UsageError(NO_SOLVER)
      tellBreakersGone(io, before, next)
      if (found.examples.length === 0) io.err('It allows no new call.\n')
      if (!found.isWhole) io.err('There are more differences than are shown here.\n')
      if (found.examples.length === 0 && options.json !== true) return
      const view = differenceView(found, before, next)
      printRows(io, options, view, differenceRows(found), DIFFERENCE_COLUMNS)
    })
}
