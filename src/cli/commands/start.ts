import type { Command } from 'commander'
import { CHAIN_COUNT } from '../../domain/chains.js'
import { type GlobalOptions, homeOf } from '../connection.js'
import type { Io } from '../io.js'
import { runEntry } from '../run-script.js'

export function register(program: Command, io: Io): void {
  program
    .command('start')
    .description(`run a development instance: the service, its signers and ${CHAIN_COUNT} chains`)
    .option('--port <port>', 'where to listen (default 8080)')
    .action(async (options: { readonly port?: string }, command: Command) => {
      const home = homeOf(io, command.optsWithGlobals<GlobalOptions>())
      const env = {
        ...io.env,
        COUNTERSIGN_HOME: home,
        ...(options.port === undefined ? {} : { PORT: options.port }),
      }
      process.exitCode = await runEntry('scripts/run.mjs', ['dev/start'], env)
    })
}
