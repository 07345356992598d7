import type { Command } from 'commander'
import { CHAIN_COUNT } from '../../domain/chains.js'
import { type GlobalOptions, homeOf } from '../connection.js'
import type { Io } from '../io.js'
import { runScript } from '../run-script.js'

interface StartOptions {
  readonly port?: string
  readonly install?: true
}

export function register(program: Command, io: Io): void {
  program
    .command('start')
    .description(`run a development instance: the service, its signers and ${CHAIN_COUNT} chains`)
    .option('--port <port>', 'port to listen on (default 8080)')
    .option('--install', "install the chains' missing dependencies without asking")
    .action(async (options: StartOptions, command: Command) => {
      const home = homeOf(io, command.optsWithGlobals<GlobalOptions>())
      const env = {
        ...io.env,
        COUNTERSIGN_HOME: home,
        ...(options.port === undefined ? {} : { PORT: options.port }),
      }
      const args = options.install === true ? ['--install'] : []
      process.exitCode = await runScript('dev/start', args, env)
    })
}
