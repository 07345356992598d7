import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import { inviteUser, listUsers } from '../../identity-provider/login/create-user.js'
import { ENROLMENT_PATH } from '../../identity-provider/login/enrolment.js'
import { type GlobalOptions, homeOf } from '../connection.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { printRecord, printRows } from '../print.js'

/** Commands for the operator: who may sign in. People set their own passwords and keys. */

type InviteOptions = GlobalOptions & { readonly p256?: true }

const issuerFile = z.object({ issuer: z.url() })

export function register(program: Command, io: Io): void {
  const users = program
    .command('users')
    .description("logins; run on the identity provider's machine, as its user")
  users
    .command('list', { isDefault: true })
    .description('accounts')
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const found = await listUsers(dataDirectory(io, options))
      const rows = found.map(({ userId, email, createdAtMs }) => ({
        user_id: userId,
        email,
        created_at: new Date(createdAtMs).toISOString(),
      }))
      printRows(io, options, { users: rows }, rows, ['user_id', 'email', 'created_at'])
    })
  const inviting = (name: string, description: string, which: 'first' | 'again') =>
    users
      .command(name)
      .description(description)
      .argument('<email>')
      .option('--p256', 'next steps for a command line key instead of a passkey')
      .action(async (email: string, _given: object, command: Command) => {
        const options = command.optsWithGlobals<InviteOptions>()
        await invite(io, options, email, which)
      })
  inviting('create', 'invite a person; prints a link that works once, for a day', 'first')
  inviting('invite-again', 'print a new link for a forgotten password; earlier links end', 'again')
}

async function invite(
  io: Io,
  options: InviteOptions,
  email: string,
  which: 'first' | 'again',
): Promise<void> {
  const directory = dataDirectory(io, options)
  const issuer = issuerOf(directory)
  const { user, code, expiresAtMs } = await inviteUser(directory, email, which)
  printRecord(io, options, {
    user_id: user.userId,
    email: user.email,
    link: `${issuer}${ENROLMENT_PATH}#${code}`,
    expires_at: new Date(expiresAtMs).toISOString(),
  })
  io.err(options.p256 === true ? commandLineSteps(issuer) : passkeySteps(issuer))
}

function passkeySteps(issuer: string): string {
  return `Send the link, whose code is a secret, to that person, who
  1. opens it and chooses a password
  2. adds a passkey at ${issuer}/authorizers
  3. countersign login --issuer ${issuer} --url <the service>
  4. countersign wallets create <name>, then countersign keys create <name> --wallet … --daily … --monthly …
`
}

function commandLineSteps(issuer: string): string {
  return `Send the link, whose code is a secret, to that person, who
  1. opens it and chooses a password
  2. countersign login --issuer ${issuer} --url <the service>
  3. countersign authorizer create
  4. countersign wallets create <name>, then countersign keys create <name> --wallet … --daily … --monthly …
`
}

function dataDirectory(io: Io, options: GlobalOptions): string {
  return join(homeOf(io, options), 'identity-provider')
}

/** @throws UsageError when the identity provider has never run here */
function issuerOf(directory: string): string {
  try {
    return issuerFile.parse(JSON.parse(readFileSync(join(directory, 'issuer.json'), 'utf8'))).issuer
  } catch (cause) {
    throw new UsageError(
      `${directory} has no readable issuer.json: start the identity provider once, and run this as its user`,
      { cause },
    )
  }
}
