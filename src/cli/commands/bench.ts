import type { Command } from 'commander'
import type { Io } from '../io.js'
import { runScript } from '../run-script.js'

export function register(program: Command, io: Io): void {
  program
    .command('bench')
    .description('measure this machine; in a clone')
    .argument('[arguments...]', 'passed to the benchmark; see --help')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (args: readonly string[]) => {
      process.exitCode = await runScript('bench/run', args, io.env)
    })
}
