import type { Command } from 'commander'
import { type GlobalOptions, serviceUrl } from '../connection.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { loginFor, saveLogin } from '../login-file.js'
import { integerOption } from '../options.js'
import { printRecord } from '../print.js'
import { signIn } from '../sign-in.js'

type LoginOptions = GlobalOptions & {
  readonly issuer?: string
  readonly port?: number
  readonly account?: string
}

export function register(program: Command, io: Io): void {
  program
    .command('login')
    .description('sign in with your browser; the token is kept for this service, for an hour')
    .option('--issuer <url>', 'address of the identity provider (default: that of the last login)')
    .option(
      '--port <port>',
      "local port for the browser's answer, on 127.0.0.1; for SSH forwarding",
      integerOption,
    )
    .option('--account <account_id>', 'an account that you are a member of (default: your own)')
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<LoginOptions>()
      const service = serviceUrl(io, options)
      const issuer =
        options.issuer ?? io.env.COUNTERSIGN_ISSUER ?? loginFor(io, service)?.identity_provider
      if (issuer === undefined) {
        throw new UsageError('name the identity provider: pass --issuer, or set COUNTERSIGN_ISSUER')
      }
      const identity_provider = new URL(issuer).origin
      const { token, expiresAtMs } = await signIn(io, identity_provider, 'console', options)
      const expires_at = new Date(expiresAtMs).toISOString()
      const file = saveLogin(io, service, { token, identity_provider, expires_at })
      printRecord(io, options, { service, identity_provider, expires_at, file })
    })
}
