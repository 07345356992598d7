import type { Command } from 'commander'
import { agentClient, type GlobalOptions } from '../connection.js'
import type { Io } from '../io.js'
import { printRecord } from '../print.js'

export function register(program: Command, io: Io): void {
  program
    .command('limits')
    .description('spend caps of this key, and how much of them is used')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      printRecord(io, options, await agentClient(io, options).getLimits())
    })
}
