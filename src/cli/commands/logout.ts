import type { Command } from 'commander'
import { type GlobalOptions, serviceUrl } from '../connection.js'
import type { Io } from '../io.js'
import { forgetLogin } from '../login-file.js'
import { printRecord } from '../print.js'

export function register(program: Command, io: Io): void {
  program
    .command('logout')
    .description('delete the stored token of this service')
    .action((_given: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const service = serviceUrl(io, options)
      printRecord(io, options, { service, forgotten: forgetLogin(io, service) })
    })
}
