import type { Command } from 'commander'
import { type GlobalOptions, homeOf } from '../connection.js'
import type { Io } from '../io.js'
import { runScript } from '../run-script.js'

export function register(program: Command, io: Io): void {
  program
    .command('restart')
    .description('restart the service of the development instance without refusing requests')
    .action(async (_options: object, command: Command) => {
      const home = homeOf(io, command.optsWithGlobals<GlobalOptions>())
      process.exitCode = await runScript('dev/restart', [], { ...io.env, COUNTERSIGN_HOME: home })
    })
}
